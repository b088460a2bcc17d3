"""Adapters: the tests of the LangChain, LlamaIndex and Haystack retrievers against the real libraries.

The libraries are too large for every checkout. This command makes `.tools/adapters` with them beside pincite, which needs
a network the first time, and runs `tests/adapters` there.
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PLACE = ROOT / ".tools" / "adapters"
PACKAGES = [f"{ROOT}[langchain,llamaindex,haystack]", "pytest", "pytest-timeout", "pytest-xdist", "hypothesis"]


def main() -> None:
    """Install what is missing and run the tests."""
    python = PLACE / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", PLACE, "--without-pip"], check=True)
    uv = shutil.which("uv") or str(ROOT / ".tools" / "bin" / "uv")
    subprocess.run([uv, "pip", "install", "--quiet", "--python", python, "--editable", *PACKAGES], check=True)
    listed = [uv, "pip", "list", "--python", python]
    shown = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.splitlines()
    print("\n".join(line for line in shown if line.split()[0] in ("langchain-core", "llama-index-core", "haystack-ai")))
    tests = subprocess.run([python, "-m", "pytest", "-v", "-p", "no:cacheprovider", "tests/adapters"], cwd=ROOT)
    sys.exit(tests.returncode)


if __name__ == "__main__":
    main()
