"""What was understood of a question, and how it is searched."""

from dataclasses import dataclass
from typing import Literal

from pincite.core.query.question import Question, Strategy

Via = Literal["dense", "lexical"]


Intent = Literal["FACTUAL", "SUMMARY", "COMPARISON", "LIST", "ANALYTICAL"]


QuestionType = Literal["factual", "comparative", "procedural", "relational", "aggregative", "temporal"]


EntityKind = Literal["name", "quoted", "code", "date", "number"]


@dataclass(frozen=True, slots=True)
class Entity:
    """Something a question names outright."""

    text: str
    kind: EntityKind


@dataclass(frozen=True, slots=True)
class Hints:
    """What would serve a question of its kind: so many times the usual passages, diverse ones, reasoning, the graph."""

    breadth: float = 1.0
    mmr: bool = False
    chain_of_thought: bool = False
    graph: bool = False
    template: str = "factual"


@dataclass(frozen=True, slots=True)
class QuestionAnalysis:
    """What a question says about itself: the answer it wants, its type, each with a confidence, and whom it names.

    `levels` are those that would serve it best: 0 documents, 1 sections, 2 passages.
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
    """One look-up to run: a text, the engine to run it with, and how much it counts."""

    text: str
    via: Via
    query: int = 0
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What was decided to do about a question.

    `extra` are texts searched beside it: its parts, and what a model made of it. `levels` are those of the results; `reads`
    is the least a second stage looks at, `rerank_top` what a reranker sees where that is not as the settings say.
    `reasons` are in words, none of them the question's.
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
        """The kind of answer that is wanted."""
        return self.analysis.intent

    @property
    def queries(self) -> tuple[str, ...]:
        """What passages are judged by, the main text first."""
        return (self.text, *self.question.also)

    @property
    def searched(self) -> tuple[str, ...]:
        """The texts that are searched, by number; beside a guess also what was really asked."""
        asked = (self.question.text,) if self.question.guessed and self.text != self.question.text else ()
        return (*self.queries, *asked, *self.extra)

    @property
    def many(self) -> bool:
        """Whether the rankings of several texts are joined by rank."""
        return self.question.many or bool(self.question.also or self.extra)
