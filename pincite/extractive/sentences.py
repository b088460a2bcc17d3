"""The sentences an answer can be made of, each with the words around it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pincite.core.query.hits import Hit
from pincite.extractive.tables import columns, is_header, is_row, row_at
from pincite.text.sentences import Span, sentences, trim
from pincite.text.terms import terms

_BACK = (
    "he she it they this these those such his her its their that there here both "
    "er sie es dies diese diesem diesen dieser dieses jene jener sein seine seinem seinen seiner ihr ihre ihrem ihren ihrer "
    "dadurch dabei damit dort hier darauf dazu daher deshalb dessen deren beide"
)
_REFERS = re.compile(rf"\W*+(?:\w++\W++){{0,3}}?(?:{'|'.join(_BACK.split())})\b", re.IGNORECASE)

_BARE_ANSWER = re.compile(r"\W*(?:yes|no|ja|nein)\W*", re.IGNORECASE)
"""A sentence that is only a yes or a no: the sentence after it is misquoted without it."""

_FENCES = ("```", "~~~")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a source, the words it holds, and those of the sentence before, of its passage and of what stands above.

    `number` counts the sentences of its passage. `means` is how it reads by itself: a row of a table holds the names of
    its columns and is read with them. `refers` says that it begins by referring to what was said before it.
    """

    source: int
    number: int
    start: int
    end: int
    text: str
    means: str
    language: str
    held: frozenset[str]
    before: frozenset[str]
    around: frozenset[str]
    above: frozenset[str]
    relevance: float
    refers: bool

    @property
    def is_row(self) -> bool:
        """Whether it is a row of a table."""
        return is_row(self.text)


def sentences_of(hits: Sequence[Hit]) -> list[Sentence]:
    """All sentences of the sources that can answer; headings, column names and comments cannot."""
    return [sentence for number, hit in enumerate(hits, 1) for sentence in _of(number, hit)]


def _of(source: int, hit: Hit) -> list[Sentence]:
    chunk = hit.chunk
    spans = _with_bare_answers(chunk.text, [span for one in sentences(chunk.text) for span in _lines(chunk.text, one)])
    held = [frozenset(terms(chunk.text[start:end], chunk.language)) for start, end in spans]
    around = frozenset[str]().union(*held)
    above = frozenset(terms(" ".join([chunk.title, *chunk.heading_path, chunk.header]), chunk.language))
    nothing = frozenset[str]()
    made = []
    for n, (start, end) in enumerate(spans):
        text = chunk.text[start:end]
        if not held[n] or _says_nothing(hit, (start, end)):
            continue
        named = frozenset(terms(" ".join(columns(chunk, start)), chunk.language)) if is_row(text) else nothing
        made.append(
            Sentence(
                source, n, start, end, text, row_at(chunk, start, end).said() if is_row(text) else text, chunk.language,
                held[n] | named, held[n - 1] if n else nothing, around, above, hit.relevance,
                bool(n and _REFERS.match(text)),
            )
        )  # fmt: skip
    return made


def _with_bare_answers(text: str, spans: Sequence[Span]) -> list[Span]:
    """The spans, where a bare yes or no belongs to the sentence that follows it in the same section."""
    joined: list[Span] = []
    for start, end in spans:
        before = joined[-1] if joined else None
        if before and _BARE_ANSWER.fullmatch(text, *before) and not text[before[1] : start].strip("\n *_"):
            joined[-1] = before[0], end
        else:
            joined.append((start, end))
    return joined


def _lines(text: str, span: Span) -> list[Span]:
    """A block of code line by line, without its fences: each can be the answer, and all of it is none."""
    if not text.startswith(_FENCES, span[0]):
        return [span]
    ends = [match.start() for match in re.finditer("\n", text[: span[1]])]
    starts = [span[0], *(end + 1 for end in ends if end > span[0])]
    lines = (trim(text, start, end) for start, end in zip(starts, [*starts[1:], span[1]], strict=True))
    return [(start, end) for start, end in lines if start < end and not text.startswith(_FENCES, start)]


def _says_nothing(hit: Hit, span: Span) -> bool:
    """Whether it is a heading, a comment or the head of a table."""
    text = hit.chunk.text[span[0] : span[1]]
    headings = {part.strip() for part in hit.chunk.heading_path}
    return text.strip("#* ") in headings or text.startswith("<!--") or is_header(hit.chunk.text, span[1])
