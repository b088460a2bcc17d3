"""Generate a draft from the prompt, and stream it."""

import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from pincite.core.protocols import LLM
from pincite.core.query.hits import Hit
from pincite.core.query.prompt import Draft, Prompt, Quote, StreamPart, Usage
from pincite.core.run import Run, Token
from pincite.core.traces import llm_request_attributes, llm_response_attributes
from pincite.errors import ProviderError, Unavailable
from pincite.models.facts import facts_of
from pincite.query.citations.marks import normalise_marks
from pincite.query.generate.link_policy import LinkPolicy
from pincite.query.generate.markdown_stream import sanitize
from pincite.query.generate.stream_filter import StreamFilter
from pincite.text.invisible import visible

MAX_REASONING_CHARS = 50_000
"""Characters of a model's reasoning that are kept for the trace."""
INCOMPLETE = "incomplete"
"""Finish reason of a draft that the model did not finish because of an error."""


async def llm_generation(run: Run, prompt: Prompt) -> Draft:
    """A draft written by the configured model."""
    return await _write(run, run.kit.llm, prompt)


async def llm_draft(run: Run, prompt: Prompt) -> Draft:
    """One of several drafts, written by the configured model and not streamed."""
    return await _write(run, run.kit.llm, prompt, streamed=False)


async def extractive_generation(run: Run, prompt: Prompt) -> Draft:
    """A draft of sentences that code selects and cites: the fallback where no model answers."""
    return await _write(run, run.kit.extractive, prompt)


async def extractive_draft(run: Run, prompt: Prompt) -> Draft:
    """A draft of quoted sentences that is compared with the model's and not streamed."""
    return await _write(run, run.kit.extractive, prompt, streamed=False)


def build_draft(run: Run, prompt: Prompt, pieces: Sequence[StreamPart], given: Sequence[str]) -> Draft:
    """The draft made of complete output; links are allowed to URLs in the texts `given` and in the sources."""
    link_policy = LinkPolicy.allowing([*given, *linked_texts(prompt.sources)])
    writer = _DraftWriter(run, _stream_filter(run, run.kit.llm, prompt, link_policy), link_policy)
    for piece in pieces:
        writer.add(piece)
    writer.finish()
    if not writer.text:
        raise ProviderError(f"the model {run.kit.llm.name} wrote nothing that can be shown")
    return writer.draft(run.kit.llm, writer.last.finish_reason)


async def _write(run: Run, llm: LLM, prompt: Prompt, *, streamed: bool = True) -> Draft:
    run.observe(**llm_request_attributes(run.provider_of(llm), prompt, llm.name))
    if llm is not run.kit.extractive:
        run.prompt = prompt
    given = [*(message.content for message in prompt.messages), *linked_texts(prompt.sources)]
    link_policy = LinkPolicy.allowing(given)
    writer = _DraftWriter(run, _stream_filter(run, llm, prompt, link_policy), link_policy, streamed)
    failure: Unavailable | None = None
    try:
        async with aclosing(llm.write(prompt)) as pieces:  # type: ignore[type-var]
            async for piece in pieces:
                writer.add(piece)
    except Unavailable as error:
        failure = error
    writer.finish()
    if not writer.text or (failure and not streamed):  # of several drafts, only complete ones are compared
        raise failure or ProviderError(f"the model {llm.name} wrote nothing that can be shown")
    if failure:
        run.degrade("llm_generation", f"the model stopped in the middle: {failure}")
    draft = writer.draft(llm, INCOMPLETE if failure else writer.last.finish_reason)
    run.observe(**llm_response_attributes(draft, writer.first_text_ms))
    if thought := writer.reasoning:
        run.observe(thought_characters=len(thought))
        run.thoughts.append(thought)
    return draft


def linked_texts(sources: Sequence[Hit]) -> list[str]:
    """The texts whose URLs an answer may link to: the passages, and the addresses of their documents."""
    chunks = [hit.chunk for hit in sources]
    return [text for one in chunks for text in (one.text, one.source_uri or "", *one.source_urls)]


def _stream_filter(run: Run, llm: LLM, prompt: Prompt, link_policy: LinkPolicy) -> StreamFilter:
    titled = run.settings.citations.form == "title" and llm is not run.kit.extractive
    thinks = bool(facts_of(prompt.sampling.model or llm.name).thinking)
    return StreamFilter(
        lambda text: normalise_marks(text, prompt.sources, titled=titled)[0], link_policy, thinks=thinks
    )


@dataclass(slots=True)
class _DraftWriter:
    """Collects the parts of a draft, and streams its filtered text where `streamed`."""

    run: Run
    stream_filter: StreamFilter
    link_policy: LinkPolicy
    streamed: bool = True
    text: str = ""
    separate_reasoning: str = ""
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
        if piece.quote:  # selected by code; the text ends with its citation mark
            self._show(sanitize(visible(piece.text), self.link_policy))
            mark = len(self.text) - len(f"[Source {piece.quote.source}]")
            self.quotes.append(replace(piece.quote, mark_start=mark, mark_end=len(self.text)))
        elif piece.text:
            self._show(self.stream_filter.feed(piece.text))
        self.separate_reasoning += piece.thought[: MAX_REASONING_CHARS - len(self.separate_reasoning)]
        self.usage = piece.usage or self.usage
        self.last = piece if piece.finish_reason else self.last

    def draft(self, llm: LLM, finish: str | None) -> Draft:
        return Draft(
            self.text,
            self.last.model or llm.name,
            finish,
            self.usage,
            tuple(self.quotes),
            self.stream_filter.suggested_questions,
            self.link_policy.warnings,
        )

    def finish(self) -> None:
        self._show(self.stream_filter.close())

    @property
    def reasoning(self) -> str:
        """The reasoning of the model, from a separate field or from its output."""
        return (self.separate_reasoning + self.stream_filter.thoughts).strip()[:MAX_REASONING_CHARS]

    def _show(self, text: str) -> None:
        if text:
            if self.streamed:
                self.run.emit(Token(text))
            self.text += text
