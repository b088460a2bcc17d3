"""What a model is given and what it writes."""

from dataclasses import dataclass, field
from typing import Literal

from pincite.core.query.hits import Hit
from pincite.core.query.pictures import Picture
from pincite.core.query.question import Sampling
from pincite.core.query.tools import Tool, ToolCall


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt; an assistant's may call tools, and a tool's answers the call of that id."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: tuple[ToolCall, ...] = ()
    answers: ToolCall | None = None
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """Exactly what the model is shown; source N of the text is `sources[N - 1]`. `tools` are those it may call.

    `reordered` are the same messages with the passages in other orders, for further drafts.
    """

    question: str
    messages: tuple[Message, ...]
    sources: tuple[Hit, ...]
    tokens: int
    sampling: Sampling = field(default_factory=Sampling)
    reordered: tuple[tuple[Message, ...], ...] = ()
    tools: tuple[Tool, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens a model counted."""

    prompt_tokens: int
    completion_tokens: int

    def __add__(self, other: "Usage") -> "Usage":
        """What both cost."""
        return Usage(self.prompt_tokens + other.prompt_tokens, self.completion_tokens + other.completion_tokens)


@dataclass(frozen=True, slots=True)
class Quote:
    """A passage an answerer chose itself: source number, offsets in that chunk's text, and its mark in the draft."""

    source: int
    start: int
    end: int
    mark_start: int = 0
    mark_end: int = 0


@dataclass(frozen=True, slots=True)
class StreamPart:
    """A part of what a model writes: text, and at the end why it stopped, who it was and what it cost.

    `note` is what the reader should know about how it came to be written, such as that another model stepped in.
    `thought` is what it says to itself before it answers, which is no part of the answer.
    `calls` are the tools it wants to be called, whole.
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
    """What the model wrote, before anyone checked it; `warnings` say what of it was held back.

    `agreement` is the share of its statements that other drafts of the same answer make as well, where there were any.
    """

    text: str
    model: str | None
    finish_reason: str | None
    usage: Usage | None = None
    quotes: tuple[Quote, ...] = ()
    suggested_questions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    agreement: float | None = None
