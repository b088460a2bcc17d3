"""The analysis of a question, and the plan of its search."""

from dataclasses import dataclass
from typing import Literal

from pincite.core.engines import EngineName
from pincite.core.query.question import Question, Strategy

Via = Literal["dense", "lexical"] | EngineName
"""An engine of a search."""


Intent = Literal["FACTUAL", "SUMMARY", "COMPARISON", "LIST", "ANALYTICAL"]


QuestionType = Literal["factual", "comparative", "procedural", "relational", "aggregative", "temporal"]


EntityKind = Literal["name", "quoted", "code", "date", "number"]


@dataclass(frozen=True, slots=True)
class Entity:
    """A named entity of a question."""

    text: str
    kind: EntityKind


@dataclass(frozen=True, slots=True)
class Hints:
    """Recommended options for a type of question; `breadth` multiplies the usual number of passages."""

    breadth: float = 1.0
    mmr: bool = False
    chain_of_thought: bool = False
    graph: bool = False
    template: str = "factual"


@dataclass(frozen=True, slots=True)
class QuestionAnalysis:
    """The analysis of a question: intent and type, each with a confidence, and the named entities.

    `levels` are the chunk levels that fit it best: 0 documents, 1 sections, 2 passages.
    """

    intent: Intent = "FACTUAL"
    intent_confidence: float = 0.0
    type: QuestionType = "factual"
    type_confidence: float = 0.0
    entities: tuple[Entity, ...] = ()
    is_multi_hop: bool = False
    levels: tuple[int, ...] = (2,)
    hints: Hints = Hints()


@dataclass(frozen=True, slots=True)
class Search:
    """One search to run: a query text, the engine, and the weight of its results."""

    text: str
    via: Via
    query: int = 0
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Plan:
    """How a question is searched.

    `extra` are additional queries: parts of the question, and rewrites by a model. `levels` are the chunk levels of the
    results. `reads` is the minimum number of candidates for the second stage; `rerank_top` overrides the setting for
    the number of reranked passages. `reasons` explain the plan in words, without the question's own words.
    """

    question: Question
    text: str
    strategy: Strategy
    searches: tuple[Search, ...]
    top_k: int
    candidates: int
    analysis: QuestionAnalysis = QuestionAnalysis()
    extra: tuple[str, ...] = ()
    levels: tuple[int, ...] = (2,)
    reads: int = 0
    rerank_top: int | None = None
    retrieves: bool = True
    reasons: tuple[str, ...] = ()

    @property
    def intent(self) -> Intent:
        """The intent of the question."""
        return self.analysis.intent

    @property
    def answered(self) -> str:
        """The question that is answered: the message itself where the caller gave another text to search for."""
        return self.question.text if self.question.query and not self.question.standalone else self.text

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries that passages are ranked by, the main query first."""
        return (self.text, *self.question.also)

    @property
    def searched(self) -> tuple[str, ...]:
        """All searched queries, by number; with a guessed rewrite, the original question too, or both in one text."""
        asked = self.question.query or self.question.text
        beside = self.question.standalone if self.question.placed_beside else None
        other = beside or (asked if self.question.guessed and self.text != asked else None)
        return (*self.queries, *((other,) if other else ()), *self.extra)

    @property
    def max_results(self) -> int:
        """The number of results: `top_k`, for each of several queries that the caller wrote."""
        return self.top_k * (len(self.queries) if self.question.many else 1)

    @property
    def many(self) -> bool:
        """Whether the rankings of several queries are fused by rank."""
        return self.question.many or bool(self.question.also or self.extra)
