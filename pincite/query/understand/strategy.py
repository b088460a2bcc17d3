"""The retrieval strategies: their engines and limits, and the choice of one for a question."""

from collections.abc import Mapping
from dataclasses import dataclass

from pincite.config.branches.retrieval import Rag
from pincite.core.query.plan import QuestionAnalysis, Via
from pincite.core.query.question import Question, Strategy
from pincite.query.understand.decompose import parts_of

_BOTH: tuple[Via, ...] = ("dense", "lexical")
MAX_SHORT_QUESTION_WORDS = 8
"""A question of at most this many words is short."""
FACT_TYPES = ("factual", "temporal", "relational")
"""The types of questions for a fact; one for steps or for a total is another."""
MIN_CONCRETE_WORDS = 5
"""A question of fewer words that names nothing is abstract."""


@dataclass(frozen=True, slots=True)
class StrategySpec:
    """How a strategy searches: its engines, and its number of passages as a multiple (`breadth`) of the usual number.

    For a strategy with a second stage, `candidates` is the minimum that each engine returns, and `reads` the minimum
    that is fetched. `reranked` is the minimum that a reranker scores; None for no reranking.
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


def choose_strategy(question: Question, rag: Rag, analysis: QuestionAnalysis, text: str) -> tuple[Strategy, str]:
    """The strategy for a question and the reason: the request, else the settings, else the kind of question."""
    if question.strategy is not None and question.strategy != "auto":
        return question.strategy, "the request says so"
    if question.strategy is None:
        if not rag.use_hybrid_search and rag.strategy in ("auto", "by_type", "hybrid"):
            return "dense_only", "rag.use_hybrid_search is off"
        if rag.strategy != "auto" and rag.strategy != "by_type":
            return rag.strategy, "rag.strategy says so"
    return route_by_kind(analysis, text, both=uses_types(question, rag))


def uses_types(question: Question, rag: Rag) -> bool:
    """Whether the type of question decides about levels, and about strategies that use both engines."""
    return rag.strategy == "by_type" and question.strategy in (None, "auto")


def is_abstract(text: str, analysis: QuestionAnalysis) -> bool:
    """Whether a question is short and names nothing: a hypothetical answer finds more than it does itself."""
    return len(text.split()) < MIN_CONCRETE_WORDS and not analysis.entities


def route_by_kind(analysis: QuestionAnalysis, text: str, *, both: bool = False) -> tuple[Strategy, str]:
    """The strategy that fits the kind of question, and the reason; with `both`, one that uses both engines."""
    entity_kinds = {entity.kind for entity in analysis.entities}
    if analysis.intent == "SUMMARY":
        return "hierarchical", "a summary draws on a whole document"
    if analysis.intent == "COMPARISON" or analysis.is_multi_hop or len(parts_of(text, analysis)) > 1:
        return "fusion", "it has several parts"
    if entity_kinds & {"quoted", "code"}:
        return "two_stage", "it names an exact term"
    is_short = len(text.split()) <= MAX_SHORT_QUESTION_WORDS
    if analysis.intent == "FACTUAL" and analysis.type in FACT_TYPES and is_short and not both:
        return "dense_only", "it is short and asks for a fact"
    return "hybrid", "no other strategy fits better"


def passage_count(question: Question, rag: Rag, strategy: Strategy, analysis: QuestionAnalysis) -> int:
    """The number of passages: as requested, else the default times the breadth of the strategy or the intent.

    With `rag.strategy=by_type`, it is the default for every question. Without `rag.top_k_by_intent`, the intent does not
    count.
    """
    if question.top_k is not None:
        return question.top_k
    if uses_types(question, rag):
        return rag.top_k
    by_setting = strategy == "dense_only" and question.strategy is None and not rag.use_hybrid_search
    by_intent = analysis.hints.breadth if rag.top_k_by_intent and analysis.hints.breadth > 1 else 0
    factor = max(1.0 if by_setting else STRATEGIES[strategy].breadth, by_intent)
    return max(1, min(1000, round(rag.top_k * factor)))
