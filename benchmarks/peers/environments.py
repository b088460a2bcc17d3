"""A virtual environment for every system, from its pinned requirements; pincite uses the current one."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from pincite.models.shipped import shipped_model

ROOT = Path(__file__).parents[2]
REQUIREMENTS = Path(__file__).parent / "requirements"
SYSTEMS = ("pincite", *sorted(file.stem for file in REQUIREMENTS.glob("*.txt")))
QUIET = {"HAYSTACK_TELEMETRY_ENABLED": "False", "LANGSMITH_TRACING": "false", "TOKENIZERS_PARALLELISM": "false"}
LIMIT_S = 1800


class NotInstalled(Exception):
    """A system could not be installed here; the last line says why."""


def python_for(system: str, work: Path) -> Path:
    """The interpreter a system runs in; made the first time, with uv where there is one, else with pip."""
    if system == "pincite":
        return Path(sys.executable)
    requirements = REQUIREMENTS / f"{system}.txt"
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()[:12]
    folder = (work / f"env-{system}-{digest}").resolve()
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        uv = shutil.which("uv") or shutil.which("uv", path=str(ROOT / ".tools" / "bin"))
        if uv:
            _run([uv, "venv", "-q", "--python", sys.executable, str(folder)])
            _run([uv, "pip", "install", "-q", "--python", str(python), "-r", str(requirements)])
        else:
            _run([sys.executable, "-m", "venv", str(folder)])
            _run([str(python), "-m", "pip", "install", "-q", "-r", str(requirements)])
        (folder / "complete").touch()
    return python


def surroundings() -> dict[str, str]:
    """The environment variables of a system's process: none of them sends anything home."""
    return {**os.environ, **QUIET, "PYTHONPATH": str(ROOT)}


def lay_out_model(work: Path) -> None:
    """Put the graph and the tokenizer where every system finds them."""
    folder = work / "model"
    folder.mkdir(parents=True, exist_ok=True)
    model = shipped_model("pincite-embed")
    for name in ("model.onnx", "tokenizer.json"):
        shutil.copy(model.file(name), folder / name)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode:
        raise NotInstalled((done.stderr.strip() or done.stdout.strip() or "no reason given").splitlines()[-1])
