"""Builders of core objects for tests."""

import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

from pincite.config.settings import Settings
from pincite.core.documents.document import Chunk, ChunkLevel
from pincite.core.protocols import LLM
from pincite.core.query.answer import (
    Answer,
    AnswerMetadata,
    Citation,
    Confidence,
    FusionSettings,
    Groundedness,
    MatchedBy,
    Source,
    Sufficiency,
)
from pincite.core.query.hits import Hit, RetrievedChunk
from pincite.core.query.plan import Plan
from pincite.core.query.prompt import Prompt, StreamPart, Usage
from pincite.core.query.question import Question
from pincite.core.query.tools import ToolCall
from pincite.core.run import Kit
from pincite.engine.app import AsyncPincite
from pincite.errors import ProviderError
from pincite.providers.scripted import Options, ScriptedLLM
from pincite.query.citations.sources import sources_of


def chunk(ordinal: int = 1, text: str = "Cats purr.", **more: object) -> Chunk:
    """Return a level-2 chunk at the start of its document."""
    values: dict[str, object] = {
        "ordinal": ordinal,
        "level": ChunkLevel.CHUNK,
        "parent": None,
        "text": text,
        "start": 0,
        "end": len(text),
        "start_line": 1,
        "end_line": 1 + text.count("\n"),
        "page": None,
        "heading_path": ("Document",),
        "content_type": "prose",
        "language": "en",
        "tokens": len(text.split()),
    }
    return Chunk(**{**values, **more})  # type: ignore[arg-type]


def found(text: str, *, key: int = 1, title: str = "Handbook", **more: object) -> RetrievedChunk:
    """Return a chunk as the store returns it."""
    values: dict[str, object] = {
        "key": key,
        "id": f"doc{key}.v1.{key}",
        "document_id": f"doc{key}",
        "document_name": f"doc{key}.md",
        "title": title,
        "version": "v1",
        "checksum": "c",
        "folder": "",
        "category": None,
        "source_uri": None,
        "source_urls": (),
        "mime": "text/markdown",
        "ordinal": key,
        "level": 2,
        "text": text,
        "header": "",
        "start_char": 100,
        "end_char": 100 + len(text),
        "start_line": 10,
        "end_line": 10 + text.count("\n"),
        "page": None,
        "heading_path": (),
        "content_type": "prose",
        "language": "en",
        "vectorized_text": None,
        "page_starts": (),
        "created_at": datetime(2024, 1, 1, tzinfo=UTC),
    }
    return RetrievedChunk(**{**values, **more})  # type: ignore[arg-type]


def hit(text: str, *, relevance: float = 0.8, score: float = 1.0, **more: object) -> Hit:
    """Return a hit for a chunk with this text."""
    return Hit(found(text, **more), score, 0.7, relevance, score)  # type: ignore[arg-type]


def prompt(question: str, *hits: Hit) -> Prompt:
    """Return a prompt with these hits as sources."""
    return Prompt(question, (), hits, tokens=0)


def plan(text: str) -> Plan:
    """Return a plan for a lexical search of a text."""
    return Plan(Question(text), text, "hybrid", (), top_k=10, candidates=100)


@contextmanager
def answering(pincite: AsyncPincite, llm: LLM) -> Iterator[None]:
    """Use this language model in the block, whatever the settings say."""
    make = pincite.services.kit_factory.kit

    def kit(settings: Settings) -> Kit:
        return replace(make(settings), llm=llm)

    pincite.services.kit_factory.kit = kit  # type: ignore[method-assign]
    try:
        yield
    finally:
        pincite.services.kit_factory.kit = make  # type: ignore[method-assign]


async def unresolved(pincite: AsyncPincite, answer: Answer) -> list[str]:
    """Return the citations whose offsets do not match their mark, or whose quote is not in the stored version."""
    scope, texts, wrong = await pincite.scope(), dict[str, str](), list[str]()
    for citation in answer.citations:
        if answer.text[citation.start : citation.end] != citation.text:
            wrong.append(f"{citation.text} does not stand at {citation.start}")
        if not citation.matched or citation.source is None:
            wrong += [f"{citation.text} quotes without a source"] if citation.quote or citation.source else []
            continue
        cited = answer.sources[citation.source - 1]
        if cited.version not in texts:
            texts[cited.version] = (await pincite.services.library.text(scope, cited.document_id, cited.version)).text
        if (
            texts[cited.version][citation.quote_start_char : citation.quote_end_char] != citation.quote
            or not citation.quote
        ):
            wrong.append(f"{citation.quote} does not stand in {cited.document_name}")
    return wrong


def source(number: int, document_id: str, text: str) -> Source:
    """Return a source with the snippet `text`."""
    [made] = sources_of([hit(text, document_id=document_id)], frozenset({1}))
    return replace(made, number=number)


def answer(text: str, sources: tuple[Source, ...] = (), by: MatchedBy = "number") -> Answer:
    """Return an answer whose marks `[Source N]` cite these sources."""
    quotes = {made.number: made.snippet for made in sources}
    citations = tuple(
        Citation(mark[0], mark.start(), mark.end(), True, by, int(mark[1]), quotes[int(mark[1])], 0, 9, 1, 1, None, 1.0)
        for mark in re.finditer(r"\[Source (\d)\]", text)
        if int(mark[1]) in quotes
    )
    return Answer(
        "a_1",
        text,
        "hybrid",
        sources,
        citations,
        (),
        Confidence(0.5, "medium", "r"),
        Groundedness(1.0),
        Sufficiency(True, 1.0),
        bool(sources),
        AnswerMetadata(len(sources), "m", "stop", "t1"),
    )


class Named(ScriptedLLM):
    """The scripted model with any name and context window."""

    def __init__(self, name: str = "scripted", window: int = 8192) -> None:
        super().__init__(Options(window=window))
        self.name = name


class Calling:
    """A model with scripted turns: each is a text, or a text and tool calls; the last turn is repeated."""

    name = "calling"

    def __init__(
        self, *turns: "str | tuple[str, list[tuple[str, object]]]", window: int = 32_768, fail: object = None
    ) -> None:
        self.window = window
        self.prompts: list[Prompt] = []
        self._turns = turns
        self._fail = fail

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        """Write the next turn; without tools in the prompt, only its text."""
        self.prompts.append(prompt)
        if isinstance(self._fail, BaseException) and (prompt.tools or "tool" not in str(self._fail)):
            raise self._fail
        turn = self._turns[min(len(self.prompts), len(self._turns)) - 1]
        text, calls = (turn, []) if isinstance(turn, str) else turn
        if text:
            yield StreamPart(text)
        made = tuple(
            ToolCall(f"c{len(self.prompts)}_{n}", name, given if isinstance(given, str) else json.dumps(given))
            for n, (name, given) in enumerate(calls)
        )
        if not prompt.tools and not text:
            raise ProviderError("the model wrote nothing")
        yield StreamPart(
            finish_reason="stop", model=self.name, usage=Usage(100, 10), calls=made if prompt.tools else ()
        )


def fusion(**changed: object) -> FusionSettings:
    """Return the fusion settings of a search: the defaults, with changes."""
    values = {"fusion": "relative_score", "alpha": 0.5, "rrf_k": 30, "multi_query_rrf_k": 60, "reranker": "none"}
    return FusionSettings(**{**values, **changed})  # type: ignore[arg-type]
