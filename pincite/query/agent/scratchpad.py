"""The scratchpad of an agent or a flow: its steps, and its passages with permanent source numbers."""

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from pincite.core.query.hits import Hit, RetrievedChunk
from pincite.core.query.tools import Step
from pincite.query.prompt.templates import Template
from pincite.text.tokens import Tokenizer

MAX_PASSAGES = 50
"""Passages that an answer may use."""


@dataclass(slots=True)
class Scratchpad:
    """The passages and steps so far; passages are shown between boundaries that documents cannot guess."""

    template: Template
    tokenizer: Tokenizer
    boundary: str = field(default_factory=lambda: f"=== {secrets.token_hex(8)} ===")
    hits: list[Hit] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    @property
    def full(self) -> bool:
        """Whether the maximum of passages is reached."""
        return len(self.hits) >= MAX_PASSAGES

    def show(self, hits: Sequence[Hit], room: int) -> tuple[str, tuple[int, ...]]:
        """The hits that fit into `room` tokens, as text for the model, and their source numbers.

        They are shown whole and in order; only a first hit that is too long is cut.
        """
        blocks, numbers = list[str](), list[int]()
        for hit in hits:
            number = self._number(hit)
            if number is None:
                break
            block = self._block(number, hit.chunk)
            cost = self.tokenizer.count(block)
            if cost > room and not blocks:
                hit = self._truncate(hit, cost, room)
                number = self._number(hit) or number
                block = self._block(number, hit.chunk)
            elif cost > room:
                break
            self._keep(number, hit)
            blocks.append(block)
            numbers.append(number)
            room -= cost
        return "\n".join(blocks), tuple(numbers)

    def _number(self, hit: Hit) -> int | None:
        """The number of the passage that contains a hit, else the next number; None where the scratchpad is full."""
        for number, known in enumerate(self.hits, start=1):
            if known.chunk.id == hit.chunk.id and _contains(known.chunk, hit.chunk):
                return number
        return None if self.full else len(self.hits) + 1

    def _keep(self, number: int, hit: Hit) -> None:
        if number > len(self.hits):
            self.hits.append(hit)
        elif hit.relevance > self.hits[number - 1].relevance:  # a later search rated it higher
            known = self.hits[number - 1]
            self.hits[number - 1] = replace(known, relevance=hit.relevance)

    def _truncate(self, hit: Hit, cost: int, room: int) -> Hit:
        """A hit cut to the tokens available, at the end of a line or word."""
        text = hit.chunk.text[: max(1, int(len(hit.chunk.text) * room / cost * 0.8))]
        cut = max(text.rfind("\n"), text.rfind(" "))
        text = text[:cut].rstrip() if cut > 0 else text
        chunk = replace(
            hit.chunk,
            text=text,
            end_char=hit.chunk.start_char + len(text),
            end_line=hit.chunk.start_line + text.count("\n"),
        )
        return replace(hit, chunk=chunk)

    def _block(self, number: int, chunk: RetrievedChunk) -> str:
        return self.template.fill(
            boundary=self.boundary,
            number=str(number),
            label=" ".join(" > ".join([chunk.title, *chunk.section_path]).split()),
            doc_id=chunk.document_id,
            lines=f"{chunk.start_line}-{chunk.end_line}",
            text=f"{chunk.header}\n{chunk.text}" if chunk.header else chunk.text,
        )


def _contains(known: RetrievedChunk, other: RetrievedChunk) -> bool:
    return known.start_char <= other.start_char and other.end_char <= known.end_char


def last_line(hits: Sequence[Hit], numbers: Sequence[int], scratchpad: Scratchpad) -> int | None:
    """The last line of a read result that was shown; None where all of it was."""
    shown = list(_shown_chunks(hits, numbers, scratchpad))
    return (
        shown[-1].end_line
        if shown and (len(shown) < len(hits) or shown[-1].end_char < hits[-1].chunk.end_char)
        else None
    )


def _shown_chunks(hits: Sequence[Hit], numbers: Sequence[int], scratchpad: Scratchpad) -> Iterator[RetrievedChunk]:
    for hit, number in zip(hits, numbers, strict=False):
        kept = scratchpad.hits[number - 1].chunk
        yield kept if kept.end_char < hit.chunk.end_char else hit.chunk
