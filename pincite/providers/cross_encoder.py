"""A cross-encoder reranker from a local folder, on the CPU, without torch and without a network."""

import asyncio
import json
import math
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from tokenizers import Encoding, Tokenizer

from pincite.core.protocols import Reranker
from pincite.errors import ProviderError, SettingsError
from pincite.models.onnx import open_session, open_tokenizer

MODEL_FILES, TOKENIZER = ("model.onnx", "onnx/model.onnx"), "tokenizer.json"
"""The files of a model folder as published; the first existing model file is used."""


@dataclass(frozen=True, slots=True)
class Options:
    """The model folder, the maximum tokens per pair, and the number of pairs scored in parallel (0: all cores)."""

    path: str = ""
    window: int = 512
    threads: int = 0


class Weights:
    """A tokenizer and a model in memory, shared by all rerankers of the same file."""

    def __init__(self, folder: Path, model: Path) -> None:
        self.tokenizer = _open_tokenizer(folder / TOKENIZER)
        self.session = _open_session(model)
        self.max_tokens = _max_tokens(folder)


class CrossEncoder:
    """Scores one pair at a time per thread, so that a score depends only on the pair."""

    def __init__(self, options: Options) -> None:
        self._weights = load_weights(options.path)
        self._inputs = {one.name: one.type for one in self._weights.session.get_inputs()}
        self._room = min(options.window, self._weights.max_tokens) - self._weights.tokenizer.num_special_tokens_to_add(
            True
        )
        self._pool = ThreadPoolExecutor(options.threads or os.cpu_count() or 1, thread_name_prefix="cross-encoder")
        self._try_out(options.path)

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score per text, from 0 to 1."""
        loop, asked = asyncio.get_running_loop(), self._pieces(query, self._room // 2)
        scoring = [loop.run_in_executor(self._pool, self._score, asked, text) for text in texts]
        return list(await asyncio.gather(*scoring))

    async def close(self) -> None:
        """Stop the threads; pending pairs are cancelled."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _score(self, query: Encoding, text: str) -> float:
        try:
            logits = self._logits(query, text)
        except Exception as error:  # the errors of the runtime have no narrower base class
            raise ProviderError(f"the cross-encoder failed on a passage ({type(error).__name__})") from error
        if not all(map(math.isfinite, logits)):
            raise ProviderError("the cross-encoder returned a score that is not a number")
        return _probability(logits)

    def _logits(self, query: Encoding, text: str) -> list[float]:
        """Return the logits of a pair; a passage that is too long is truncated."""
        passage = self._pieces(text, self._room - len(query))
        pair = self._weights.tokenizer.post_process(query, passage)
        values = {"input_ids": pair.ids, "attention_mask": pair.attention_mask, "token_type_ids": pair.type_ids}
        inputs = {
            name: np.array([values[name]], np.int32 if kind == "tensor(int32)" else np.int64)
            for name, kind in self._inputs.items()
        }
        (logits, *_) = self._weights.session.run(None, inputs)
        return [float(logit) for logit in np.asarray(logits, np.float64).reshape(-1)]

    def _pieces(self, text: str, limit: int) -> Encoding:
        # Lone surrogates cannot be encoded.
        safe = text.encode("utf-8", "replace").decode()
        pieces = self._weights.tokenizer.encode(safe, add_special_tokens=False)
        pieces.truncate(limit)
        return pieces

    def _try_out(self, path: str) -> None:
        """Score a pair, so that an unsuitable model is reported at start."""
        try:
            found = len(self._logits(self._pieces("a question", 8), "an answer"))
        except Exception as error:
            raise _unusable_model(
                path, f"it cannot score a pair ({type(error).__name__}: {_one_line(error)})"
            ) from error
        if found not in (1, 2):
            raise _unusable_model(path, f"it returns {found} numbers per pair, not one or two")


_lock = threading.Lock()
_loaded: WeakValueDictionary[tuple[Path, int], Weights] = WeakValueDictionary()


def load_weights(path: str) -> Weights:
    """Load the model of a folder; a model that is already in memory is shared, since it may take gigabytes."""
    if not path:
        raise SettingsError(
            f"the reranker cross_encoder needs rerank.path: a folder with {MODEL_FILES[0]} and {TOKENIZER} "
            "(PINCITE_RERANK__PATH)"
        )
    folder = Path(path)
    model = next((folder / name for name in MODEL_FILES if (folder / name).is_file()), None)
    if model is None or not (folder / TOKENIZER).is_file():
        raise SettingsError(f"rerank.path: there is no {TOKENIZER if model else MODEL_FILES[0]} in {folder}")
    key = (model.resolve(), model.stat().st_mtime_ns)
    with _lock:
        found = _loaded.get(key)
        if found is None:
            found = _loaded[key] = Weights(folder, model)
        return found


def _open_tokenizer(file: Path) -> Tokenizer:
    try:
        return open_tokenizer(file)
    except Exception as error:  # the library raises no narrower class
        raise SettingsError(f"rerank.path: {file} is not a tokenizer ({_one_line(error)})") from error


def _open_session(file: Path) -> Any:
    try:
        return open_session(str(file))  # by path, since large models keep their weights in a separate file
    except Exception as error:
        raise SettingsError(f"rerank.path: {file} is not a usable ONNX model ({_one_line(error)})") from error


def _max_tokens(folder: Path) -> int:
    """The maximum number of tokens of a pair that the model supports, according to its files."""
    config, tokens = _read_json(folder / "config.json"), _read_json(folder / "tokenizer_config.json")
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and "roberta" in str(config.get("model_type")):
        positions -= 2  # the positions of these models start at two
    limits = (positions, tokens.get("model_max_length"))
    return min((int(limit) for limit in limits if isinstance(limit, int | float) and limit >= 16), default=2**31)


def _read_json(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_bytes()) if file.is_file() else {}
    except (OSError, ValueError) as error:
        raise SettingsError(f"rerank.path: {file} cannot be read ({_one_line(error)})") from error
    return found if isinstance(found, dict) else {}


def _probability(logits: Sequence[float]) -> float:
    """Convert logits to a score: the logistic of one logit, or of the difference of two."""
    logit = logits[-1] - (logits[0] if len(logits) == 2 else 0.0)
    if logit >= 0:
        return 1 / (1 + math.exp(-logit))
    small = math.exp(logit)
    return small / (1 + small)


def _unusable_model(path: str, why: str) -> SettingsError:
    return SettingsError(f"rerank.path: the model in {path} is not a cross-encoder with one or two classes: {why}")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def make_reranker(options: Options) -> Reranker:
    """Create the reranker; called by `plugins.load`."""
    return CrossEncoder(options)
