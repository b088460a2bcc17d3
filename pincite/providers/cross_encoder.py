"""A cross-encoder from a folder: reads question and passage together, on the CPU, without torch and without a network."""

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

from pincite.config.settings import forbid_telemetry
from pincite.core.protocols import Reranker
from pincite.errors import ProviderError, SettingsError

forbid_telemetry()
import onnxruntime  # noqa: E402 - it sends statistics home unless told not to before it is imported

MODELS, TOKENIZER = ("model.onnx", "onnx/model.onnx"), "tokenizer.json"
"""The files of a folder as they are published; the first model that is there is taken."""


@dataclass(frozen=True, slots=True)
class Options:
    """Where the model is, how many tokens of a pair it is shown, and how many pairs are computed at a time (0: cores)."""

    path: str = ""
    window: int = 512
    threads: int = 0


class Weights:
    """A tokenizer and a model in memory, shared by everybody who uses the same file."""

    def __init__(self, folder: Path, model: Path) -> None:
        self.tokenizer = _open_tokenizer(folder / TOKENIZER)
        self.session = _open_session(model)
        self.most = _most_tokens(folder)


class CrossEncoder:
    """Scores one pair at a time per thread, so that a score depends on nothing but the pair."""

    def __init__(self, options: Options) -> None:
        self._weights = weights(options.path)
        self._inputs = {one.name: one.type for one in self._weights.session.get_inputs()}
        self._room = min(options.window, self._weights.most) - self._weights.tokenizer.num_special_tokens_to_add(True)
        self._pool = ThreadPoolExecutor(options.threads or os.cpu_count() or 1, thread_name_prefix="cross-encoder")
        self._try_out(options.path)

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score a text, from 0 to 1."""
        loop, asked = asyncio.get_running_loop(), self._pieces(query, self._room // 2)
        scoring = [loop.run_in_executor(self._pool, self._score, asked, text) for text in texts]
        return list(await asyncio.gather(*scoring))

    async def close(self) -> None:
        """Let the threads go; pairs nobody waits for are not begun."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _score(self, query: Encoding, text: str) -> float:
        try:
            logits = self._logits(query, text)
        except Exception as error:  # the runtime's errors share no other base
            raise ProviderError(f"the cross-encoder failed on a passage ({type(error).__name__})") from error
        if not all(map(math.isfinite, logits)):
            raise ProviderError("the cross-encoder gave a score that is not a number")
        return _probability(logits)

    def _logits(self, query: Encoding, text: str) -> list[float]:
        """What the model says about a pair; a passage that is too long is cut at its end."""
        passage = self._pieces(text, self._room - len(query))
        pair = self._weights.tokenizer.post_process(query, passage)
        values = {"input_ids": pair.ids, "attention_mask": pair.attention_mask, "token_type_ids": pair.type_ids}
        given = {
            name: np.array([values[name]], np.int32 if kind == "tensor(int32)" else np.int64)
            for name, kind in self._inputs.items()
        }
        (logits, *_) = self._weights.session.run(None, given)
        return [float(logit) for logit in np.asarray(logits, np.float64).reshape(-1)]

    def _pieces(self, text: str, most: int) -> Encoding:
        # A lone surrogate is no text and cannot be encoded.
        safe = text.encode("utf-8", "replace").decode()
        pieces = self._weights.tokenizer.encode(safe, add_special_tokens=False)
        pieces.truncate(most)
        return pieces

    def _try_out(self, path: str) -> None:
        """Score a pair, so that a model of another kind is told at start."""
        try:
            found = len(self._logits(self._pieces("a question", 8), "an answer"))
        except Exception as error:
            raise _unusable(path, f"it cannot be asked ({type(error).__name__}: {_line(error)})") from error
        if found not in (1, 2):
            raise _unusable(path, f"for one pair it gives {found} numbers, not one or two")


_lock = threading.Lock()
_loaded: WeakValueDictionary[tuple[Path, int], Weights] = WeakValueDictionary()


def weights(path: str) -> Weights:
    """The model of a folder; who asks while somebody else has it open shares it, for it may take gigabytes."""
    if not path:
        raise SettingsError(
            f"the reranker cross_encoder needs rerank.path: a folder with {MODELS[0]} and {TOKENIZER} "
            "(PINCITE_RERANK__PATH)"
        )
    folder = Path(path)
    model = next((folder / name for name in MODELS if (folder / name).is_file()), None)
    if model is None or not (folder / TOKENIZER).is_file():
        raise SettingsError(f"rerank.path: there is no {TOKENIZER if model else MODELS[0]} in {folder}")
    key = (model.resolve(), model.stat().st_mtime_ns)
    with _lock:
        found = _loaded.get(key)
        if found is None:
            found = _loaded[key] = Weights(folder, model)
        return found


def _open_tokenizer(file: Path) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises nothing narrower
        raise SettingsError(f"rerank.path: {file} is no tokenizer ({_line(error)})") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    # A document that says "[SEP]" means the word.
    tokenizer.encode_special_tokens = True
    return tokenizer


def _open_session(file: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    # Pairs are computed side by side, each on one thread.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    try:  # by its path, because large models keep their numbers in a file beside it
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise SettingsError(f"rerank.path: {file} is no ONNX model that can be used ({_line(error)})") from error


def _most_tokens(folder: Path) -> int:
    """The longest pair the model was made for, where its files say so."""
    config, tokens = _told(folder / "config.json"), _told(folder / "tokenizer_config.json")
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and "roberta" in str(config.get("model_type")):
        positions -= 2  # such models begin to count at two
    said = (positions, tokens.get("model_max_length"))
    return min((int(most) for most in said if isinstance(most, int | float) and most >= 16), default=2**31)


def _told(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_bytes()) if file.is_file() else {}
    except (OSError, ValueError) as error:
        raise SettingsError(f"rerank.path: {file} cannot be read ({_line(error)})") from error
    return found if isinstance(found, dict) else {}


def _probability(logits: Sequence[float]) -> float:
    """One number is how well the passage answers; of two, the second against the first."""
    logit = logits[-1] - (logits[0] if len(logits) == 2 else 0.0)
    if logit >= 0:
        return 1 / (1 + math.exp(-logit))
    small = math.exp(logit)
    return small / (1 + small)


def _unusable(path: str, why: str) -> SettingsError:
    return SettingsError(f"rerank.path: the model in {path} is no cross-encoder of one or two classes: {why}")


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def make_reranker(options: Options) -> Reranker:
    """Called by `plugins.load`."""
    return CrossEncoder(options)
