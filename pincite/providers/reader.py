"""The built-in reader, pincite-read, on the CPU: reads a question or a claim together with a passage."""

import asyncio
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Encoding, Tokenizer

from pincite.core.protocols import Reader, Reranker
from pincite.core.query.reading import ReadableText, Reading, Window
from pincite.models.bert_input import READER_OUTPUTS
from pincite.models.onnx import open_session, open_tokenizer
from pincite.models.shipped import shipped_model
from pincite.text.sentences import sentences

MAX_PIECES = 320
"""Word pieces of question and passage together; the model has no more positions."""
MAX_QUESTION_PIECES = 96
MAX_ABOVE_PIECES = 48
"""Word pieces of the title and headings above a passage."""
MAX_WINDOWS = 4
"""Windows of one passage; what follows is not read."""
_SPECIAL_PIECES = 3

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Options:
    """The number of pairs read in parallel; 0 uses all cores."""

    threads: int = 0


class PassageReader:
    """Reads one pair at a time per thread, so that a result depends only on the pair. The model is loaded when needed."""

    def __init__(self, options: Options) -> None:
        threads = options.threads or os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="reader")

    async def read(self, question: str, passages: Sequence[ReadableText]) -> list[Reading]:
        """Read a question or a claim with each passage."""
        return await self.read_pairs([(question, passage) for passage in passages])

    async def read_pairs(self, pairs: Sequence[tuple[str, ReadableText]]) -> list[Reading]:
        """Read each question or claim with its passage."""
        loop = asyncio.get_running_loop()
        reading = [loop.run_in_executor(self._pool, _read, question, passage) for question, passage in pairs]
        try:
            return list(await asyncio.gather(*reading))
        finally:
            for one in reading:
                one.cancel()

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """The probability that each text answers the query."""
        return [one.answerable for one in await self.read(query, [ReadableText(text) for text in texts])]

    async def close(self) -> None:
        """Stop the threads; pending pairs are cancelled."""
        self._pool.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True, slots=True)
class _Model:
    tokenizer: Tokenizer
    session: Any
    first: int
    last: int


_loading = threading.Lock()


def _model() -> _Model:
    with _loading:
        return _load()


@cache
def _load() -> _Model:
    tokenizer = open_tokenizer(shipped_model("pincite-embed").file("tokenizer.json"))
    session = open_session(str(shipped_model("pincite-read").file("model.onnx")), basic_optimization=True)
    pieces = tokenizer.get_vocab()
    return _Model(tokenizer, session, pieces["[CLS]"], pieces["[SEP]"])


def _read(question: str, passage: ReadableText) -> Reading:
    model = _model()
    asked = _pieces(model, question).ids[:MAX_QUESTION_PIECES]
    above = _pieces(model, passage.above).ids[:MAX_ABOVE_PIECES]
    pieces = _pieces(model, passage.text)
    room = MAX_PIECES - _SPECIAL_PIECES - len(asked) - len(above)
    spans = _windows(passage.text, pieces, room)[:MAX_WINDOWS]
    return Reading(tuple(_read_window(model, asked, above, pieces, span) for span in spans))


def _windows(text: str, pieces: Encoding, room: int) -> list[tuple[int, int]]:
    """Ranges of pieces that fit, each beginning with a sentence if one begins in its first half."""
    total, offsets = len(pieces.ids), pieces.offsets
    if total <= room:
        return [(0, total)]
    begins = {start for start, _ in sentences(text)}
    spans, start = [], 0
    while True:
        end = min(start + room, total)
        spans.append((start, end))
        if end == total:
            return spans
        inner = (place for place in range(end, start + room // 2, -1) if offsets[place][0] in begins)
        start = next(inner, end)


def _read_window(model: _Model, asked: list[int], above: list[int], pieces: Encoding, span: tuple[int, int]) -> Window:
    read = pieces.ids[span[0] : span[1]]
    ids = np.array([[model.first, *asked, model.last, *above, *read, model.last]], np.int64)
    types = (np.arange(ids.shape[1]) >= len(asked) + 2).astype(np.int64)[None]
    start, end, answerable, polarity, claim = model.session.run(list(READER_OUTPUTS), {"ids": ids, "types": types})
    inside = slice(len(asked) + len(above) + 2, len(asked) + len(above) + 2 + len(read))
    (yes, no, _), (supported, contradicted, _) = _softmax(polarity[0]), _softmax(claim[0])
    offsets = pieces.offsets[span[0] : span[1]]
    return Window(
        answerable=float(1 / (1 + np.exp(-np.clip(answerable[0, 0], -40, 40)))),
        starts=tuple(first for first, _ in offsets),
        ends=tuple(last for _, last in offsets),
        begins=tuple(_softmax(start[0])[inside].tolist()),
        finishes=tuple(_softmax(end[0])[inside].tolist()),
        yes=float(yes),
        no=float(no),
        supported=float(supported),
        contradicted=float(contradicted),
    )


def _softmax(logits: Floats) -> Floats:
    raised = np.exp(logits - logits.max())
    return raised / raised.sum()  # type: ignore[no-any-return]


def _pieces(model: _Model, text: str) -> Encoding:
    # Lone surrogates cannot be encoded; a question mark instead keeps all offsets.
    return model.tokenizer.encode(text.encode("utf-8", "replace").decode(), add_special_tokens=False)


def make_reader(options: Options) -> Reader:
    """Create the reader; called by `plugins.load`."""
    return PassageReader(options)


def make_reranker(options: Options) -> Reranker:
    """Create a reranker of the reader; called by `plugins.load`."""
    return PassageReader(options)
