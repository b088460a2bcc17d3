"""A BERT sentence encoder on the CPU: splits texts into windows and embeds them, one text at a time per thread."""

import asyncio
import itertools
import math
import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import Encoding

from pincite.errors import Invalid, SettingsError
from pincite.models.onnx import open_session, open_tokenizer
from pincite.models.token_encoder import TokenEncoder, with_token_output
from pincite.text.sentences import sentences

Vector = npt.NDArray[np.float32]

DIMENSIONS = 384
MAX_POSITIONS = 512
"""Maximum sequence length of the model, in word pieces."""

_SPECIAL_TOKENS = 2
"""[CLS] and [SEP] are added to every text and count towards its window."""

_SENTENCE_BOUNDARY = 3
"""Quality of a cut between two sentences; the best one."""

_MAX_CACHED_QUERIES = 1000


@dataclass(frozen=True)
class EncoderOptions:
    """The limits of the computation.

    `window` is the maximum input of the model in word pieces, `part` the maximum length of a text for one vector, and
    `overlap` the number of pieces that two parts share if a sentence had to be split. `threads` texts are embedded in
    parallel; 0 uses all cores.
    """

    threads: int = 1
    window: int = 256
    part: int = 200
    overlap: int = 32

    def __post_init__(self) -> None:
        if not 16 <= self.window <= MAX_POSITIONS:
            raise SettingsError(f"the embedder's window must be 16 to {MAX_POSITIONS} word pieces (was {self.window})")
        if self.part < 1:
            raise SettingsError(f"the embedder's part must be at least 1 word piece (was {self.part})")
        if not 0 <= self.overlap <= self.window // 8:
            raise SettingsError(f"the embedder's overlap must be 0 to an eighth of the window (was {self.overlap})")


class SentenceEncoder:
    """Embeds one text at a time per thread, so that a vector depends only on its text.

    `graph` is an ONNX model made by `bert_graph.build`, by its path or its bytes.
    """

    local = True
    dimensions = DIMENSIONS

    def __init__(self, name: str, graph: str | bytes, tokenizer: Path, options: EncoderOptions) -> None:
        self._files = graph, tokenizer
        self._tokenizer = open_tokenizer(tokenizer)
        self._session = open_session(graph, basic_optimization=True)
        self._input = self._session.get_inputs()[0].name
        self._first, self._last = (self._tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]"))
        self._threads = options.threads or os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="embedder")
        self._recent: OrderedDict[str, list[float]] = OrderedDict()
        self._part = options.part
        self._overlap = options.overlap
        self.max_tokens = options.window
        self.name = name

    async def embed(self, texts: Sequence[str], *, as_query: bool) -> list[list[float]]:
        """Return one unit vector per text, in order.

        A query longer than the window becomes the mean of its windows. A passage that long is an error: the caller must
        split it with `windows`, so that each part can be found.
        """
        if as_query:
            return await self._embed_queries(texts)
        return await self._in_pool(self._embed_passage, texts)

    def open_tokens(self) -> TokenEncoder:
        """Open the same model again, to return the vector of each token."""
        graph, tokenizer = self._files
        return TokenEncoder(
            f"{self.name}/tokens", with_token_output(graph), tokenizer, marked=False, threads=self._threads
        )

    def windows(self, text: str, prefix: str = "") -> list[str]:
        """Split a text that is too long for one vector into parts of about equal length.

        Each part is a literal slice of the text after `prefix`; together they cover the whole text. Cuts are made
        between sentences, otherwise at white space, otherwise between words. A prefix is truncated to half the window.
        """
        pieces = self._pieces(text)
        short = len(pieces) <= self._part
        if short and self._fits(prefix + text):
            return [prefix + text]
        prefix = self._cut(prefix, self._room // 2)
        if short and self._fits(prefix + text):
            return [prefix + text]
        limit = min(self._part, self._room - len(self._pieces(prefix)))
        spans = _balanced_spans(text, pieces, limit, min(self._overlap, limit // 8))
        return [window for start, end in spans for window in self._fitted(prefix, text[start:end])]

    @property
    def _room(self) -> int:
        return self.max_tokens - _SPECIAL_TOKENS

    def _pieces(self, text: str) -> Encoding:
        # Lone surrogates cannot be encoded; a question mark instead keeps all offsets.
        return self._tokenizer.encode(text.encode("utf-8", "replace").decode(), add_special_tokens=False)

    def _fits(self, text: str) -> bool:
        return len(self._pieces(text)) <= self._room

    def _cut(self, prefix: str, limit: int) -> str:
        pieces = self._pieces(prefix)
        if len(pieces) <= limit:
            return prefix
        words = pieces.word_ids
        whole = next((place for place in range(limit, 0, -1) if words[place] != words[place - 1]), limit)
        return prefix[: pieces.offsets[whole][0]]

    def _fitted(self, prefix: str, part: str) -> list[str]:
        """Halve a part that has more pieces than counted, which a cut inside a word can cause."""
        if len(part) < 2 or self._fits(prefix + part):
            return [prefix + part]
        middle = len(part) // 2
        return self._fitted(prefix, part[:middle]) + self._fitted(prefix, part[middle:])

    def _embed_passage(self, text: str) -> list[float]:
        pieces = self._pieces(text)
        if len(pieces) > self._room:
            raise Invalid(
                f"a text of {len(pieces)} word pieces does not fit the embedder's window of {self._room}; "
                "split it with windows() first"
            )
        return self._run(pieces).tolist()  # type: ignore[no-any-return]

    def _embed_query(self, text: str) -> list[float]:
        mean = np.mean([self._run(self._pieces(window)) for window in self.windows(text)], axis=0)
        return (mean / np.linalg.norm(mean)).tolist()  # type: ignore[no-any-return]

    def _run(self, pieces: Encoding) -> Vector:
        ids = np.array([[self._first, *pieces.ids, self._last]], dtype=np.int64)
        (vectors,) = self._session.run(None, {self._input: ids})
        vector: Vector = vectors[0]
        return vector

    async def _embed_queries(self, texts: Sequence[str]) -> list[list[float]]:
        known = {text: self._recent[text] for text in texts if text in self._recent}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        known.update(zip(new, await self._in_pool(self._embed_query, new), strict=True))
        for text in texts:
            self._recent[text] = known[text]
            self._recent.move_to_end(text)
        while len(self._recent) > _MAX_CACHED_QUERIES:
            self._recent.popitem(last=False)
        return [list(known[text]) for text in texts]

    async def _in_pool(self, embed: Callable[[str], list[float]], texts: Sequence[str]) -> list[list[float]]:
        """Embed on the thread pool, one text at a time, so that concurrent calls share the threads fairly."""
        loop = asyncio.get_running_loop()
        waiting = iter(enumerate(texts))
        vectors: list[list[float]] = [[] for _ in texts]

        async def take_turns() -> None:
            for place, text in waiting:
                vectors[place] = await loop.run_in_executor(self._pool, embed, text)

        turns = [asyncio.ensure_future(take_turns()) for _ in range(min(self._threads, len(texts)))]
        try:
            await asyncio.gather(*turns)
        finally:
            for turn in turns:
                turn.cancel()
        return vectors


def _balanced_spans(text: str, pieces: Encoding, limit: int, overlap: int) -> list[tuple[int, int]]:
    """Return character spans of about equal size, each of at most `limit` pieces.

    Two spans share up to `overlap` pieces if no sentence ends between them.
    """
    total = len(pieces)
    places = [0, *(first for first, _ in pieces.offsets[1:]), len(text)]
    quality = _cut_qualities(text, places, pieces.word_ids)
    spans, start, end = [], 0, 0
    while end < total:
        rest = total - start
        count = math.ceil(rest / limit)
        end = total if count == 1 else _cut(quality, start, math.ceil(rest / count), limit, overlap)
        spans.append((places[start], places[end]))
        shared = range(end - overlap, end + 1) if quality[end] < _SENTENCE_BOUNDARY else (end,)
        start = max(shared, key=lambda place: (quality[place], -place))
    return spans


def _cut(quality: Sequence[int], start: int, size: int, limit: int, overlap: int) -> int:
    """Return the best end of a span of about `size` pieces, never beyond `limit`."""
    near = range(start + max(size // 2, overlap + 1), min(start + limit, len(quality) - 1) + 1)
    return max(near, key=lambda place: (quality[place], -abs(place - start - size)))


def _cut_qualities(text: str, places: Sequence[int], words: Sequence[int | None]) -> list[int]:
    """Rate a cut before each piece: best between sentences, then after white space, then between words."""
    starts = {start for start, _ in sentences(text)}
    between = (int(word != before) for before, word in itertools.pairwise(words))
    inner = [
        _SENTENCE_BOUNDARY if place in starts else 2 if text[place - 1].isspace() else quality
        for place, quality in zip(places[1:], between, strict=False)
    ]
    return [_SENTENCE_BOUNDARY, *inner, _SENTENCE_BOUNDARY]
