"""The embedded answerer: picks and cites sentences, needs no model; says so when the sources do not answer."""

import math
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

from pincite.core.answers import Found, Hit, Piece, Prompt, Quote
from pincite.core.phrases import NO_ANSWER, NOTHING_FOUND
from pincite.core.protocols import LLM, Embedder
from pincite.core.text import sentences
from pincite.errors import Unavailable
from pincite.words import query_terms, question_language, terms

EMBEDDED = 32
"""Sentences compared by meaning; the others have too few of the question's words to matter."""
LEXICAL, MEANING, PRIOR = 0.5, 0.25, 0.25
"""Weights of shared words, of meaning and of the source's own relevance; see docs/evaluation.md."""
CONTEXT = 0.5
"""What a question's word is worth when it stands in the heading above a sentence instead of in it."""
WRONG_NUMBER = 0.3
"""What shared words are worth in a passage that lacks a number or code of the question."""
ENOUGH = 0.26
"""A best sentence below this does not answer the question."""
CLOSE = 0.8
"""A further sentence is added when it is nearly as good as the first."""
MOST = 3
LANGUAGES = ("en", "de")
"""Whose word forms a question is compared in, besides."""

_MARKS = re.compile(r"\*\*|__|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])|`")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_DELIMITER = re.compile(r"\n(?=[ \t:|]*+-)[ \t:|-]++(?:\n|$)")
_QUOTED = re.compile(r"\n[ \t>]*")
_FOOTNOTE = re.compile(r"\[\d{1,3}\]")


@dataclass(frozen=True, slots=True)
class Options:
    """It has none."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence of a source and how well it fits the question."""

    source: int
    start: int
    end: int
    text: str
    held: frozenset[str]
    above: frozenset[str]
    around: frozenset[str]
    prior: float
    lexical: float = 0.0
    score: float = 0.0


class Extractive:
    """Chooses one to three sentences; each is quoted as it stands and cited."""

    name = "extractive"
    window = 32_768

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def write(self, prompt: Prompt) -> AsyncIterator[Piece]:
        """The sentences that answer the question, or one that says that none does."""
        scored, note = await self._scored(prompt)
        chosen = _choose(scored)
        if not chosen:
            yield Piece(NOTHING_FOUND[question_language(prompt.question)], note=note)
            yield Piece(finish_reason=NO_ANSWER, model=self.name)
            return
        for number, candidate in enumerate(chosen):
            chunk = prompt.sources[candidate.source - 1].chunk
            lead = " " if number else ""
            yield Piece(
                f"{lead}{_readable(candidate, chunk)} [Source {candidate.source}]",
                quote=Quote(candidate.source, candidate.start, candidate.end),
                note=None if number else note,
            )
        yield Piece(finish_reason="stop", model=self.name)

    async def _scored(self, prompt: Prompt) -> tuple[list[Candidate], str | None]:
        """Every sentence with its score, best first, and what was missing to judge them."""
        candidates = [c for number, hit in enumerate(prompt.sources, 1) for c in _candidates(number, hit)]
        candidates = _by_words(prompt.question, candidates)[:EMBEDDED]
        note = None
        try:
            cosines = await self._cosines(prompt.question, candidates)
        except Unavailable as error:
            note = f"sentences were chosen by their words alone: {error}"
            cosines = [c.lexical for c in candidates]  # words speak for meaning too
        scored = [
            replace(c, score=LEXICAL * c.lexical + MEANING * max(0.0, cosine) + PRIOR * c.prior)
            for c, cosine in zip(candidates, cosines, strict=True)
        ]
        return sorted(scored, key=lambda c: (-c.score, c.source, c.start)), note

    async def _cosines(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        if not candidates:
            return []
        [wanted] = await self._embedder.embed([question], as_query=True)
        texts = [self._embedder.windows(c.text)[0] for c in candidates]
        vectors = await self._embedder.embed(texts, as_query=False)
        return [sum(a * b for a, b in zip(wanted, vector, strict=True)) for vector in vectors]


def _candidates(number: int, hit: Hit) -> list[Candidate]:
    """The sentences of one source; headings, column names and comments are no answers."""
    chunk = hit.chunk
    above = frozenset(terms(" ".join([chunk.title, *chunk.heading_path, chunk.header]), chunk.language))
    around = frozenset(terms(chunk.text, chunk.language))
    headings = {part.strip() for part in chunk.heading_path}
    found = []
    for start, end in sentences(chunk.text):
        text = chunk.text[start:end]
        held = frozenset(terms(text, chunk.language))
        no_answer = text.strip("#* ") in headings or text.startswith("<!--") or _DELIMITER.match(chunk.text, end)
        if not held or no_answer:
            continue
        columns = " ".join(_header_of(start, chunk)) if text.startswith("|") else ""
        context = above | frozenset(terms(columns, chunk.language))
        found.append(Candidate(number, start, end, text, held, context, around, hit.relevance))
    return found


def _by_words(question: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Score by the question's words each sentence holds, rare ones counting more; best first."""
    wanted = query_terms(question, LANGUAGES)
    count = len(candidates)
    weights = {}
    for term in wanted:
        seen = sum(term in c.held for c in candidates)
        in_play = seen or any(term in c.above for c in candidates)
        weights[term] = math.log(1 + (count - seen + 0.5) / (seen + 0.5)) if in_play else 0.0
    unknown = sum(1 for form in _forms(question) if not any(weights.get(term) for term in form))
    total = sum(weights.values()) + unknown * math.log(1 + count)
    numbers = {term for term in wanted if any(char.isdigit() for char in term)}
    scored = []
    for c in candidates:
        got = sum(
            w if term in c.held else CONTEXT * w for term, w in weights.items() if term in c.held or term in c.above
        )
        known = numbers <= c.held | c.above | c.around  # asked about 23, nothing about 17 is an answer
        scored.append(replace(c, lexical=(got / total if total else 0.0) * (1.0 if known else WRONG_NUMBER)))
    return sorted(scored, key=lambda c: (-(LEXICAL * c.lexical + PRIOR * c.prior), c.source, c.start))


def _forms(question: str) -> list[set[str]]:
    """Each content word of the question in the forms it may be indexed under."""
    language = question_language(question)
    return [set(query_terms(word, LANGUAGES)) for word in question.split() if terms(word, language)]


def _choose(scored: Sequence[Candidate]) -> list[Candidate]:
    """The best sentence, and further ones that are nearly as good and say something else."""
    if not scored or scored[0].score < ENOUGH:
        return []
    chosen = [scored[0]]
    for candidate in scored[1:]:
        if len(chosen) == MOST or candidate.score < CLOSE * scored[0].score:
            break
        if all(len(candidate.held & c.held) < 0.7 * len(candidate.held | c.held) for c in chosen):
            chosen.append(candidate)
    return chosen


def _readable(candidate: Candidate, chunk: Found) -> str:
    """The sentence without its markup, on one line; a table's row with the names of its columns."""
    text = candidate.text
    if text.startswith("|"):
        return _row(text, _header_of(candidate.start, chunk))
    text = _LINK.sub(r"\1", _FOOTNOTE.sub("", _QUOTED.sub(" ", text)))
    return " ".join(_MARKS.sub("", text).split())


def _header_of(start: int, chunk: Found) -> list[str]:
    """The column names of the table in which a row starts."""
    lines = f"{chunk.header}\n{chunk.text[:start]}".rstrip().split("\n")
    for number in range(len(lines) - 1, 0, -1):
        if _DELIMITER.match("\n" + lines[number]) and "|" in lines[number - 1]:
            return _cells(lines[number - 1])
        if lines[number].strip() and not lines[number].lstrip().startswith("|"):
            break
    return []


def _row(text: str, header: list[str]) -> str:
    cells = _cells(text)
    if len(header) != len(cells):
        return "; ".join(cell for cell in cells if cell) + "."
    return (
        "; ".join(f"{name}: {cell}" if name else cell for name, cell in zip(header, cells, strict=True) if cell) + "."
    )


def _cells(row: str) -> list[str]:
    return [_MARKS.sub("", cell).strip() for cell in row.strip().strip("|").split("|")]


def make_llm(options: Options, embedder: Embedder) -> LLM:
    """Called by `plugins.load`, which offers the embedder."""
    return Extractive(embedder)
