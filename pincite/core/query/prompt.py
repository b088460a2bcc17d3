"""The prompt of a language model, and the draft it writes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pincite.core.graph import GraphFact
from pincite.core.query.hits import Hit
from pincite.core.query.pictures import Picture
from pincite.core.query.question import Sampling
from pincite.core.query.tools import Tool, ToolCall

NO_ANSWER = "no_answer"
"""Finish reason of an answerer that found the sources not to answer."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt; `calls` are tool calls of the assistant, `answers` the call of a tool's reply."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: tuple[ToolCall, ...] = ()
    answers: ToolCall | None = None
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """The complete prompt; source N in its text is `sources[N - 1]`. `tools` are the tools the model may call.

    `asked` are the words of a follow-up as it was asked, where the question is its standalone form. `reordered` are the
    same messages with the passages in other orders, for further drafts. `schema` is the JSON schema of the output, where
    the server can constrain it. `facts` are those of the knowledge graph that the sources state. `elsewhere`
    are words of the question that some document has.
    """

    question: str
    messages: tuple[Message, ...]
    sources: tuple[Hit, ...]
    tokens: int
    sampling: Sampling = field(default_factory=Sampling)
    reordered: tuple[tuple[Message, ...], ...] = ()
    tools: tuple[Tool, ...] = ()
    asked: str = ""
    facts: tuple[GraphFact, ...] = ()
    schema: Mapping[str, Any] | None = None
    elsewhere: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Usage:
    """The token usage that a model reported."""

    prompt_tokens: int
    completion_tokens: int

    def __add__(self, other: "Usage") -> "Usage":
        """The sum of both."""
        return Usage(self.prompt_tokens + other.prompt_tokens, self.completion_tokens + other.completion_tokens)


Operation = Literal["sum", "mean", "highest", "lowest", "count", "distinct"]
"""What is computed from the cells of a column: `count` counts rows, `distinct` counts different cells."""


@dataclass(frozen=True, slots=True)
class Computation:
    """A value computed from a table: the operation, the number of the column, the offsets of the rows, the value."""

    operation: Operation
    column: int
    rows: tuple[tuple[int, int], ...]
    value: str


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote chosen by the extractive model: source, offsets in the chunk's text, and its mark in the draft.

    `computed` is set where the text is not quoted but computed from the rows between the offsets, `document_name` where
    it repeats the title of the document or the name of its file. `read` is the reader's probability that the quoted text
    answers; None where no reader read it.
    """

    source: int
    start: int
    end: int
    mark_start: int = 0
    mark_end: int = 0
    computed: Computation | None = None
    document_name: str = ""
    read: float | None = None


@dataclass(frozen=True, slots=True)
class StreamPart:
    """A part of a streamed completion; the last part has the finish reason, the model and the token usage.

    `note` is a notice for the reader, such as that the fallback model answered. `thought` is reasoning text, which is
    not part of the answer. `calls` are complete tool calls.
    """

    text: str = ""
    quote: Quote | None = None
    finish_reason: str | None = None
    model: str | None = None
    usage: Usage | None = None
    note: str | None = None
    thought: str = ""
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """The model's text before its citations are checked; `warnings` name the parts that were withheld.

    `agreement` is the share of its statements that other drafts of the same answer contain too; None without others.
    `replaces` is the model whose draft it replaces, because its sources did not support that one.
    """

    text: str
    model: str | None
    finish_reason: str | None
    usage: Usage | None = None
    quotes: tuple[Quote, ...] = ()
    suggested_questions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    agreement: float | None = None
    replaces: str | None = None
