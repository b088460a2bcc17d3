"""The question as asked, with its filters and its conversation."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pincite.core.query.pictures import Picture

Strategy = Literal["hybrid", "dense_only", "lexical_only", "fusion", "two_stage", "hierarchical"]


EffortLevel = Literal["basic", "standard", "enhanced", "maximum"]
"""How much is done for an answer."""


Mode = Literal["chat", "general", "agent", "vision"]
"""From the documents; without them; looked up step by step; with pictures."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What part of the library a question is about, and as it was when; applied inside the search.

    A document must have all of the `tags`. `index` is the signature of one that stands beside the one searched.
    """

    folder: str | None = None
    document_ids: tuple[str, ...] | None = None
    as_of: datetime | None = None
    tags: tuple[str, ...] = ()
    index: str | None = None


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model should write, where the caller has a wish."""

    model: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    system_prompt: str | None = None
    top_k: int | None = None
    thinking: int | None = None
    """Tokens to think with before the answer, where the model can; None asks for no thinking."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One exchange of a conversation: what was asked, what that means on its own, and the answer's words.

    An answer that was cut, or whose documents were removed since, is empty: only the question is remembered.
    """

    question: str
    standalone: str
    answer: str


@dataclass(frozen=True, slots=True)
class Question:
    """What the caller asked: one text, or up to five to be searched together and fused by rank.

    `conversation` is what was said before, oldest first, where the caller keeps it; `session_id` names one kept here.
    `standalone` is what the text means without that conversation, where it cannot be understood alone; `corrected`
    is what is searched instead where words were misspelt; where either is `guessed`, the text is searched for as well.
    `levels` are those wanted: 0 documents, 1 sections, 2 passages. `retrieve` says whether to look into the documents,
    where the caller wishes to decide that. `changes` are settings by dotted key that this request has its own value for.
    `fresh` asks for an answer that is made now, whatever was answered before. `intelligence_level` is how much shall be
    done for the answer, where that is not as the settings say. `pictures` go with the mode `vision`.
    """

    text: str
    also: tuple[str, ...] = ()
    many: bool = False
    filters: Filters = Filters()
    top_k: int | None = None
    min_score: float | None = None
    strategy: Strategy | None = None
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

    @property
    def meant(self) -> str:
        """What is searched: the text, made whole and corrected where it had to be."""
        return self.corrected or self.standalone or self.text
