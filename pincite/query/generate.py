"""The prompt becomes a draft, streamed."""

import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from pincite.core.answers import Draft, Hit, Piece, Prompt, Quote, Usage
from pincite.core.genai import asked, written
from pincite.core.hidden import visible
from pincite.core.protocols import LLM
from pincite.core.run import Run, Token
from pincite.errors import ProviderError, Unavailable
from pincite.query.border import Border
from pincite.query.cite import normalise_marks
from pincite.query.cleaner import Cleaner
from pincite.query.prose import tamed

BROKEN_OFF = "incomplete"
"""Finish reason of a draft whose model failed in the middle."""


async def generate(run: Run, prompt: Prompt) -> Draft:
    """Let the configured model write."""
    return await _write(run, run.kit.llm, prompt)


async def extract(run: Run, prompt: Prompt) -> Draft:
    """Let code choose and cite sentences: the way out when no model answers."""
    return await _write(run, run.kit.extractive, prompt)


async def _write(run: Run, llm: LLM, prompt: Prompt) -> Draft:
    run.observe(**asked(run.provider_of(llm), prompt, llm.name))
    given = [*(message.content for message in prompt.messages), *(hit.chunk.text for hit in prompt.sources)]
    border = Border.around(given)
    writing = _Writing(run, Cleaner(_one_form(prompt.sources), border), border)
    broken: Unavailable | None = None
    try:
        async with aclosing(llm.write(prompt)) as pieces:  # type: ignore[type-var]
            async for piece in pieces:
                writing.add(piece)
    except Unavailable as error:
        broken = error
    writing.finish()
    if not writing.text:
        raise broken or ProviderError(f"the model {llm.name} wrote nothing that can be shown")
    if broken:
        run.note("generate", f"the model stopped in the middle: {broken}")
    finish = BROKEN_OFF if broken else writing.last.finish_reason
    model = writing.last.model or llm.name
    draft = Draft(
        writing.text, model, finish, writing.usage, tuple(writing.quotes), writing.cleaner.suggested_questions,
        border.warnings,
    )  # fmt: skip
    run.observe(**written(draft, writing.first_text_ms))
    return draft


def _one_form(sources: Sequence[Hit]) -> Callable[[str], str]:
    return lambda text: normalise_marks(text, sources)[0]


@dataclass(slots=True)
class _Writing:
    """What has been written so far; whatever is added to its text is told at once."""

    run: Run
    cleaner: Cleaner
    border: Border
    text: str = ""
    quotes: list[Quote] = field(default_factory=list)
    usage: Usage | None = None
    last: Piece = field(default_factory=Piece)
    begun: float = field(default_factory=time.monotonic)
    first_text_ms: float | None = None

    def add(self, piece: Piece) -> None:
        if piece.note:
            self.run.note("generate", piece.note)
        if piece.text and self.first_text_ms is None:
            self.first_text_ms = (time.monotonic() - self.begun) * 1000
        if piece.quote:  # chosen by code and no model's words: it ends with its mark
            self._show(tamed(visible(piece.text), self.border))
            mark = len(self.text) - len(f"[Source {piece.quote.source}]")
            self.quotes.append(replace(piece.quote, mark_start=mark, mark_end=len(self.text)))
        elif piece.text:
            self._show(self.cleaner.feed(piece.text))
        self.usage = piece.usage or self.usage
        self.last = piece if piece.finish_reason else self.last

    def finish(self) -> None:
        self._show(self.cleaner.close())

    def _show(self, text: str) -> None:
        if text:
            self.run.emit(Token(text))
            self.text += text
