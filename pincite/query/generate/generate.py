"""The prompt becomes a draft, streamed."""

import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from pincite.core.protocols import LLM
from pincite.core.query.hits import Hit
from pincite.core.query.prompt import Draft, Prompt, Quote, StreamPart, Usage
from pincite.core.run import Run, Token
from pincite.core.traces import asked, written
from pincite.errors import ProviderError, Unavailable
from pincite.query.citations.marks import normalise_marks
from pincite.query.generate.link_policy import LinkPolicy
from pincite.query.generate.markdown_stream import sanitize
from pincite.query.generate.stream_filter import StreamFilter
from pincite.text.invisible import visible

MAX_REASONING_CHARS = 50_000
"""Characters of what a model thinks that are kept for a trace."""
INCOMPLETE = "incomplete"
"""Finish reason of a draft whose model failed in the middle."""


async def llm_generation(run: Run, prompt: Prompt) -> Draft:
    """Let the configured model write."""
    return await _write(run, run.kit.llm, prompt)


async def llm_draft(run: Run, prompt: Prompt) -> Draft:
    """Let the configured model write one of several drafts, which nobody hears of yet."""
    return await _write(run, run.kit.llm, prompt, aloud=False)


async def extractive_generation(run: Run, prompt: Prompt) -> Draft:
    """Let code choose and cite sentences: the way out when no model answers."""
    return await _write(run, run.kit.extractive, prompt)


def build_draft(run: Run, prompt: Prompt, pieces: Sequence[StreamPart], given: Sequence[str]) -> Draft:
    """The draft that pieces make which are all there; an address may pass where it stands in what was `given`."""
    border = LinkPolicy.around([*given, *(hit.chunk.text for hit in prompt.sources)])
    writing = _DraftWriter(run, StreamFilter(_mark_normaliser(prompt.sources), border), border)
    for piece in pieces:
        writing.add(piece)
    writing.finish()
    if not writing.text:
        raise ProviderError(f"the model {run.kit.llm.name} wrote nothing that can be shown")
    return writing.draft(run.kit.llm, writing.last.finish_reason)


async def _write(run: Run, llm: LLM, prompt: Prompt, *, aloud: bool = True) -> Draft:
    run.observe(**asked(run.provider_of(llm), prompt, llm.name))
    if llm is not run.kit.extractive:
        run.prompt = prompt
    given = [*(message.content for message in prompt.messages), *(hit.chunk.text for hit in prompt.sources)]
    border = LinkPolicy.around(given)
    writing = _DraftWriter(run, StreamFilter(_mark_normaliser(prompt.sources), border), border, aloud)
    broken: Unavailable | None = None
    try:
        async with aclosing(llm.write(prompt)) as pieces:  # type: ignore[type-var]
            async for piece in pieces:
                writing.add(piece)
    except Unavailable as error:
        broken = error
    writing.finish()
    if not writing.text or (broken and not aloud):  # of several drafts, only whole ones are compared
        raise broken or ProviderError(f"the model {llm.name} wrote nothing that can be shown")
    if broken:
        run.degrade("llm_generation", f"the model stopped in the middle: {broken}")
    made = writing.draft(llm, INCOMPLETE if broken else writing.last.finish_reason)
    run.observe(**written(made, writing.first_text_ms))
    if thought := writing.thought:
        run.observe(thought_characters=len(thought))
        run.thoughts.append(thought)
    return made


def _mark_normaliser(sources: Sequence[Hit]) -> Callable[[str], str]:
    return lambda text: normalise_marks(text, sources)[0]


@dataclass(slots=True)
class _DraftWriter:
    """What has been written so far; whatever is added to its text is told at once."""

    run: Run
    cleaner: StreamFilter
    border: LinkPolicy
    aloud: bool = True
    text: str = ""
    thinks: str = ""
    quotes: list[Quote] = field(default_factory=list)
    usage: Usage | None = None
    last: StreamPart = field(default_factory=StreamPart)
    begun: float = field(default_factory=time.monotonic)
    first_text_ms: float | None = None

    def add(self, piece: StreamPart) -> None:
        if piece.note:
            self.run.degrade("llm_generation", piece.note)
        if piece.text and self.first_text_ms is None:
            self.first_text_ms = (time.monotonic() - self.begun) * 1000
        if piece.quote:  # chosen by code and no model's words: it ends with its mark
            self._show(sanitize(visible(piece.text), self.border))
            mark = len(self.text) - len(f"[Source {piece.quote.source}]")
            self.quotes.append(replace(piece.quote, mark_start=mark, mark_end=len(self.text)))
        elif piece.text:
            self._show(self.cleaner.feed(piece.text))
        self.thinks += piece.thought[: MAX_REASONING_CHARS - len(self.thinks)]
        self.usage = piece.usage or self.usage
        self.last = piece if piece.finish_reason else self.last

    def draft(self, llm: LLM, finish: str | None) -> Draft:
        return Draft(
            self.text, self.last.model or llm.name, finish, self.usage, tuple(self.quotes), self.cleaner.suggested_questions,
            self.border.warnings,
        )  # fmt: skip

    def finish(self) -> None:
        self._show(self.cleaner.close())

    @property
    def thought(self) -> str:
        """What the model thought, apart from its answer or in it."""
        return (self.thinks + self.cleaner.thoughts).strip()[:MAX_REASONING_CHARS]

    def _show(self, text: str) -> None:
        if text:
            if self.aloud:
                self.run.emit(Token(text))
            self.text += text
