"""The strategies: what each searches with, how wide, and which one a question is for."""

from collections.abc import Mapping
from dataclasses import dataclass

from pincite.config.branches.retrieval import Rag
from pincite.core.query.plan import QuestionAnalysis, Via
from pincite.core.query.question import Question, Strategy
from pincite.query.understand.decompose import parts_of

_BOTH: tuple[Via, ...] = ("dense", "lexical")
MAX_SHORT_QUESTION_WORDS = 8
"""A question of so many words or fewer is short."""


@dataclass(frozen=True, slots=True)
class StrategySpec:
    """How a strategy searches: its engines, how many times the usual passages it wants, how wide it looks first.

    `candidates` and `reads` are the least that each engine brings and that are read back, where a second stage chooses
    among them; `reranked` is the least a reranker sees of them, where it sees any.
    """

    engines: tuple[Via, ...]
    breadth: float = 1.0
    candidates: int = 0
    reads: int = 0
    reranked: int | None = 1


STRATEGIES: Mapping[Strategy, StrategySpec] = {
    "hybrid": StrategySpec(_BOTH),
    "dense_only": StrategySpec(("dense",), breadth=0.5, reranked=None),
    "lexical_only": StrategySpec(("lexical",)),
    "fusion": StrategySpec(_BOTH, breadth=2.0),
    "two_stage": StrategySpec(_BOTH, candidates=300, reads=100, reranked=50),
    "hierarchical": StrategySpec(_BOTH, candidates=300, reads=100),
}


def choose_strategy(question: Question, rag: Rag, reading: QuestionAnalysis, text: str) -> tuple[Strategy, str]:
    """The strategy for a question, and who decided: the request, else the settings, else the question's own kind."""
    if question.strategy is not None:
        return question.strategy, "the request says so"
    if not rag.use_hybrid_search and rag.strategy in ("auto", "hybrid"):
        return "dense_only", "rag.use_hybrid_search is off"
    if rag.strategy != "auto":
        return rag.strategy, "rag.strategy says so"
    return route_by_kind(reading, text)


def route_by_kind(reading: QuestionAnalysis, text: str) -> tuple[Strategy, str]:
    """The strategy that a question of this kind is for."""
    named = {entity.kind for entity in reading.entities}
    if reading.intent == "SUMMARY":
        return "hierarchical", "what it wants is spread over a document"
    if reading.intent == "COMPARISON" or reading.is_multi_hop or len(parts_of(text, reading)) > 1:
        return "fusion", "it has several parts"
    if named & {"quoted", "code"}:
        return "two_stage", "it names something to the letter"
    if reading.intent == "FACTUAL" and reading.type == "factual" and len(text.split()) <= MAX_SHORT_QUESTION_WORDS:
        return "dense_only", "it is short and asks for a fact"
    return "hybrid", "nothing speaks for another"


def passage_count(question: Question, rag: Rag, strategy: Strategy, reading: QuestionAnalysis) -> int:
    """How many passages are wanted: as many as the request says, else the usual, more or less of them by kind."""
    if question.top_k is not None:
        return question.top_k
    by_setting = strategy == "dense_only" and question.strategy is None and not rag.use_hybrid_search
    times = max(
        1.0 if by_setting else STRATEGIES[strategy].breadth, reading.hints.breadth if reading.hints.breadth > 1 else 0
    )
    return max(1, min(1000, round(rag.top_k * times)))
