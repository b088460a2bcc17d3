"""A BERT encoder that returns a vector for each token: of the shipped embedder, or of a ColBERT model in a folder."""

import asyncio
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from tokenizers import Encoding

from pincite.errors import ProviderError, SettingsError
from pincite.models.onnx import open_session, open_tokenizer
from pincite.models.token_vectors import PackedTokens, Tokens, pack, unit_rows
from pincite.text.terms import stop_words

MODEL_FILES, TOKENIZER = ("model.onnx", "onnx/model.onnx"), "tokenizer.json"
"""The files of a model folder as published; the first existing model file is used."""
MARKERS = (("[QueryMarker]", "[DocumentMarker]"), ("[unused0]", "[unused1]"))
"""Tokens that a ColBERT model expects behind the first one, of a question and of a passage; the first pair known."""
MAX_TOKENS = 512


class TokenEncoder:
    """Encodes one text at a time per thread, so that a vector depends only on its text."""

    def __init__(self, name: str, graph: str | bytes, tokenizer: Path, *, marked: bool, threads: int = 1) -> None:
        self.name = name
        self._tokenizer = open_tokenizer(tokenizer)
        self._session = open_session(graph, basic_optimization=True)
        self._inputs = {one.name: one.type for one in self._session.get_inputs()}
        self._first, self._last = (self._tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]"))
        self._markers = self._find_markers() if marked else ((), ())
        self._pool = ThreadPoolExecutor(threads or os.cpu_count() or 1, thread_name_prefix="tokens")
        self.dimensions = self._run(()).shape[1]

    async def embed_tokens(self, texts: Sequence[tuple[str, str]], *, as_query: bool) -> list[Tokens]:
        """Return the unit vectors of each text's tokens, without stop words and punctuation.

        A text comes with its language. A text of stop words only keeps them.
        """
        loop = asyncio.get_running_loop()

        def encode(text: str, language: str) -> Tokens:
            return self._encode(text, language, as_query=as_query)

        return list(await asyncio.gather(*(loop.run_in_executor(self._pool, encode, *one) for one in texts)))

    async def close(self) -> None:
        """Stop the threads; pending texts are cancelled."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _find_markers(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        for pair in MARKERS:
            query, document = (self._tokenizer.token_to_id(marker) for marker in pair)
            if query is not None and document is not None:
                return (query,), (document,)
        return (), ()

    def _encode(self, text: str, language: str, *, as_query: bool) -> Tokens:
        safe = text.encode("utf-8", "replace").decode()  # lone surrogates cannot be encoded
        pieces = self._tokenizer.encode(safe, add_special_tokens=False)
        marker = self._markers[0 if as_query else 1]
        room = MAX_TOKENS - 2 - len(marker)
        parts = [self._run((*marker, *pieces.ids[n : n + room]))[len(marker) :] for n in range(0, len(pieces), room)]
        rows = np.concatenate(parts) if parts else np.zeros((0, self.dimensions), np.float32)
        kept = telling(safe, pieces, language)
        return unit_rows(rows[kept] if any(kept) else rows)

    def _run(self, ids: Sequence[int]) -> Tokens:
        """Return the output of each token between the first and the last."""
        whole = [self._first, *ids, self._last]
        values = {"attention_mask": [1] * len(whole), "token_type_ids": [0] * len(whole)}
        inputs = {
            name: np.array([values.get(name, whole)], np.int32 if kind == "tensor(int32)" else np.int64)
            for name, kind in self._inputs.items()
        }
        try:
            outputs = self._session.run(None, inputs)
        except Exception as error:  # the errors of the runtime have no narrower base class
            raise ProviderError(f"the model of the token vectors failed on a text ({type(error).__name__})") from error
        found = next((one for one in outputs if one.ndim == 3 and one.shape[1] == len(whole)), None)
        if found is None:
            raise SettingsError("late.model: the model returns no vector for each token")
        rows: Tokens = np.asarray(found[0][1:-1], np.float32)
        return rows


def telling(text: str, pieces: Encoding, language: str) -> list[bool]:
    """Whether each piece belongs to a word that is neither punctuation nor a stop word."""
    spans: dict[int | None, tuple[int, int]] = {}
    for word, (start, end) in zip(pieces.word_ids, pieces.offsets, strict=True):
        first, last = spans.get(word, (start, end))
        spans[word] = min(first, start), max(last, end)
    stop = stop_words(language)
    words = {word: text[start:end].lower() for word, (start, end) in spans.items()}
    good = {word: any(map(str.isalnum, shown)) and shown not in stop for word, shown in words.items()}
    return [good[word] for word in pieces.word_ids]


def with_token_output(graph: str | bytes) -> bytes:
    """Return a sentence encoder's graph (of `bert_graph.build`) with the vectors of its tokens as a second output."""
    import onnx

    data = Path(graph).read_bytes() if isinstance(graph, str) else graph
    model: Any = onnx.load_model_from_string(data)
    pooling = next(node for node in reversed(model.graph.node) if node.op_type == "ReduceMean")
    shape: list[str | int | None] = [1, "pieces", None]
    model.graph.output.append(onnx.helper.make_tensor_value_info(pooling.input[0], onnx.TensorProto.FLOAT, shape))
    made: bytes = model.SerializeToString()
    return made


def open_folder(path: str, threads: int) -> TokenEncoder:
    """Open the ColBERT model of a folder."""
    folder = Path(path)
    model = next((folder / name for name in MODEL_FILES if (folder / name).is_file()), None)
    if model is None or not (folder / TOKENIZER).is_file():
        raise SettingsError(f"late.model: there is no {TOKENIZER if model else MODEL_FILES[0]} in {folder}")
    name = f"{folder.resolve().name}/{model.stat().st_size}"
    return TokenEncoder(name, str(model), folder / TOKENIZER, marked=True, threads=threads)


@runtime_checkable
class HasTokenVectors(Protocol):
    """An embedder whose model also gives a vector for each token."""

    def open_tokens(self) -> TokenEncoder: ...


_opening = threading.Lock()
_opened: dict[tuple[str, str], TokenEncoder] = {}


def token_encoder(embedder: object, folder: str) -> TokenEncoder:
    """Return the model of the token vectors: that of a folder, else the embedder's; it is opened once per process."""
    key = folder, "" if folder else str(getattr(embedder, "name", ""))
    with _opening:
        if key not in _opened:
            if folder:
                _opened[key] = open_folder(folder, threads=1)
            elif isinstance(embedder, HasTokenVectors):
                _opened[key] = embedder.open_tokens()
            else:
                raise ProviderError(f"the embedder {key[1]} gives no vectors of tokens; set late.model to a folder")
        return _opened[key]


async def packed_tokens(embedder: object, texts: Sequence[tuple[str, str]], folder: str) -> PackedTokens:
    """Return the packed token vectors of passages, each with its language."""
    encoder = await asyncio.to_thread(token_encoder, embedder, folder)
    found = await encoder.embed_tokens(texts, as_query=False)
    return PackedTokens(encoder.name, encoder.dimensions, [pack(tokens) for tokens in found])
