"""The built-in embedder: English and German in one space, verified files, nothing sent and nothing heavy loaded."""

import asyncio
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pincite.errors import SettingsError
from pincite.models import shipped
from pincite.models.calibration import FITTED, PAIRS, mean_cosines
from pincite.providers.pincite_embed import Options, make_embedder

pytestmark = pytest.mark.slow
TRANSLATIONS = (
    ("How long is the warranty on the pump?", "Wie lange gilt die Garantie auf die Pumpe?"),
    ("The canteen is closed on Fridays.", "Freitags ist die Kantine geschlossen."),
    ("Employees report sickness before nine o'clock.", "Beschäftigte melden sich vor neun Uhr krank."),
    ("The contract ends with three months' notice.", "Der Vertrag endet mit einer Frist von drei Monaten."),
    ("Lift the bicycle onto the rack with two people.", "Heben Sie das Fahrrad zu zweit auf den Träger."),
)


def test_a_text_is_nearest_to_its_translation() -> None:
    embedder = make_embedder(Options())
    english, german = (
        np.array(asyncio.run(embedder.embed([pair[side] for pair in TRANSLATIONS], as_query=False))) for side in (0, 1)
    )
    cosines = english @ german.T
    assert cosines.argmax(axis=1).tolist() == cosines.argmax(axis=0).tolist() == list(range(len(TRANSLATIONS)))


def test_its_calibration_has_the_mean_cosines_of_these_weights() -> None:
    embedder = make_embedder(Options())
    questions = asyncio.run(embedder.embed([question for question, _ in PAIRS], as_query=True))
    passages = asyncio.run(embedder.embed([passage for _, passage in PAIRS], as_query=False))
    assert mean_cosines(questions, passages) == pytest.approx((FITTED.related, FITTED.unrelated), abs=0.005)


def test_the_name_has_the_version_of_the_weights() -> None:
    assert make_embedder(Options()).name == f"pincite-embed/{shipped.shipped_model('pincite-embed').version}"


def test_a_folder_of_weights_is_refused_with_the_embedder_that_reads_it() -> None:
    with pytest.raises(SettingsError, match=r"set embedding\.provider=minilm"):
        Options(path="/somewhere")


def test_a_start_needs_neither_onnx_nor_torch() -> None:
    code = (
        "import sys; from pincite.providers.pincite_embed import Options, make_embedder; make_embedder(Options());"
        "print(sorted({'onnx', 'torch', 'safetensors', 'huggingface_hub'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_no_telemetry_is_sent(tmp_path: Path) -> None:
    """onnxruntime keeps and sends statistics unless it is told not to before it is imported."""
    code = (
        "import asyncio\n"
        "from pincite.providers.pincite_embed import Options, make_embedder\n"
        "asyncio.run(make_embedder(Options()).embed(['a'], as_query=True))"
    )
    home = tmp_path / "home"
    home.mkdir()
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=60)
    assert [path for path in home.rglob("*") if path.is_file()] == []
