"""The question as asked, with its filters, options and conversation."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from pincite.core.query.pictures import Picture
from pincite.errors import Invalid

Strategy = Literal["hybrid", "dense_only", "lexical_only", "fusion", "two_stage", "hierarchical"]


RequestedStrategy = Literal["auto", "hybrid", "dense_only", "lexical_only", "fusion", "two_stage", "hierarchical"]
"""A strategy as a request names it; `auto` is the one that fits the kind of question."""


EffortLevel = Literal["basic", "standard", "enhanced", "maximum"]
"""How much work is spent on an answer."""


Mode = Literal["chat", "general", "agent", "vision"]
"""Answer from the documents; without them; step by step with tools; with pictures."""


def check_choice(name: str, value: object, choices: Any) -> None:
    """Raise `Invalid` with all choices unless a value is one of them, or None."""
    if value is not None and value not in get_args(choices):
        raise Invalid(f"there is no {name} {str(value)[:100]!r}; there are: {', '.join(get_args(choices))}")


def check_list(name: str, value: object) -> None:
    """Raise `Invalid` for a single text where several are expected: it would be taken as a list of letters."""
    if isinstance(value, str):
        raise Invalid(f"{name} must be a list of texts, not one text: write [{value[:100]!r}]")


@dataclass(frozen=True, slots=True)
class Filters:
    """Restricts a question to a part of the library, and to a point in time; applied inside the search.

    A document must have all `tags`. `index` is the signature of another index than the one in service.
    """

    folder: str | None = None
    document_ids: tuple[str, ...] | None = None
    as_of: datetime | None = None
    tags: tuple[str, ...] = ()
    index: str | None = None

    def __post_init__(self) -> None:
        check_list("tags", self.tags)
        check_list("document_ids", self.document_ids)


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling options of the caller; None leaves an option at its default."""

    model: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    system_prompt: str | None = None
    top_k: int | None = None
    thinking: int | None = None
    """Token budget for reasoning before the answer, if the model supports it; None disables reasoning."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One exchange of a conversation: the question, its standalone form, and the answer's text.

    `answer` is empty if the answer was cut off or its documents were removed since.
    """

    question: str
    standalone: str
    answer: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question: one text, or up to five texts (`also`) that are searched together and fused by rank.

    `query` is the text that the caller wants searched for instead of `text`; the model still answers `text`.
    `conversation` holds the earlier exchanges, oldest first, if the caller stores them; `session_id` names a stored
    session. `standalone` is the follow-up question rewritten to be understood alone, or placed after the last question;
    `corrected` is the text with its spelling corrected. If either is `guessed`, the original text is searched too. `levels` are the wanted chunk levels:
    0 documents, 1 sections, 2 passages. `retrieve` forces or forbids retrieval. `changes` are settings of this request
    by dotted key. `fresh` bypasses the cache. `intelligence_level` overrides the setting. `pictures` go with the mode
    `vision`. `replaces` is the trace id of a turn of the session: it and the later turns give way to this one.
    """

    text: str
    also: tuple[str, ...] = ()
    many: bool = False
    filters: Filters = Filters()
    top_k: int | None = None
    min_score: float | None = None
    strategy: RequestedStrategy | None = None
    alpha: float | None = None
    sampling: Sampling = Sampling()
    conversation: tuple[Exchange, ...] = ()
    session_id: str | None = None
    profile: str | None = None
    standalone: str | None = None
    guessed: bool = False
    corrected: str | None = None
    levels: tuple[int, ...] | None = None
    retrieve: bool | None = None
    changes: tuple[tuple[str, bool | int | float | str], ...] = ()
    fresh: bool = False
    intelligence_level: EffortLevel | None = None
    mode: Mode = "chat"
    pictures: tuple[Picture, ...] = ()
    query: str | None = None
    replaces: str | None = None

    def __post_init__(self) -> None:
        check_choice("strategy", self.strategy, RequestedStrategy)
        check_choice("level", self.intelligence_level, EffortLevel)
        check_choice("mode", self.mode, Mode)
        if not isinstance(self.filters, Filters):
            raise Invalid('filters must be a value of Filters, such as Filters(folder="hr", tags=("contract",))')

    @property
    def placed_beside(self) -> bool:
        """Whether the question was not rewritten, but is searched beside the last one: it alone is to be answered."""
        return self.guessed and self.standalone is not None and self.standalone.endswith(f" {self.text}")

    @property
    def search_text(self) -> str:
        """The text to search: corrected, standalone, the caller's query or the original, in this order."""
        return self.corrected or (None if self.placed_beside else self.standalone) or self.query or self.text
