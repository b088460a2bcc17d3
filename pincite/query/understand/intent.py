"""The intent and the type of a question, by the patterns that answer types share."""

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import TypeVar

from pincite.core.query.plan import Hints, Intent, QuestionAnalysis, QuestionType
from pincite.query.understand.entities import entities_in, is_multi_hop
from pincite.text.answer_type import MAX_QUESTION_CHARS, matches
from pincite.text.terms import question_language

T = TypeVar("T", bound=str)
FACT_WEIGHT = 0.3
"""Weight of a question for a plain fact, which no pattern shows."""

_INTENTS: Mapping[Intent, tuple[tuple[float, tuple[str, ...]], ...]] = {
    "SUMMARY": ((0.95, ("summary",)), (0.8, ("summary_likely", "summary_request")), (0.75, ("summary_about",))),
    "COMPARISON": (
        (0.9, ("comparison",)),
        (0.8, ("comparison_likely",)),
        (0.75, ("comparison_choice",)),
        (0.6, ("comparison_both",)),
    ),
    "LIST": (
        (0.9, ("list_request", "list_of")),
        (0.75, ("list_question", "list_members")),
        (0.5, ("list_all", "list_kinds")),
    ),
    "ANALYTICAL": ((0.9, ("why",)), (0.8, ("explain",)), (0.6, ("how_it_works",))),
}
"""The weights of question patterns (`[questions]` in the language files) for each intent; several patterns add up."""

_TYPES: Mapping[QuestionType, tuple[tuple[float, tuple[str, ...]], ...]] = {
    "comparative": _INTENTS["COMPARISON"],
    "procedural": ((0.9, ("steps",)), (0.7, ("steps_passive",))),
    "relational": ((0.9, ("relation",)), (0.7, ("relation_likely",))),
    "aggregative": (
        (0.85, ("total",)),
        (0.8, ("list_request", "list_of", "total_all")),
        (0.65, ("superlative", "list_question", "list_kinds")),
    ),
    "temporal": ((0.9, ("temporal",)), (0.5, ("temporal_likely",))),
}

_HINTS: Mapping[Intent, Hints] = {
    "FACTUAL": Hints(template="factual"),
    "SUMMARY": Hints(breadth=2.0, template="summary"),
    "COMPARISON": Hints(mmr=True, chain_of_thought=True, graph=True, template="comparison"),
    "LIST": Hints(breadth=1.5, template="list"),
    "ANALYTICAL": Hints(chain_of_thought=True, graph=True, template="analytical"),
}
_LEVELS: Mapping[QuestionType, tuple[int, ...]] = {
    "factual": (2,),
    "temporal": (2,),
    "relational": (2,),
    "comparative": (1, 2),
    "procedural": (1, 2),
    "aggregative": (1, 2),
}
_SUMMARY_LEVELS = (0, 1)


_Weights = tuple[tuple[float, tuple[str, ...]], ...]


@lru_cache(maxsize=256)
def analyse_question(text: str) -> QuestionAnalysis:
    """Everything a question says about itself."""
    text = text[:MAX_QUESTION_CHARS]
    language = question_language(text)
    intent, sure = _most_likely(text.lower(), language, _INTENTS, "FACTUAL")
    kind, certain = _most_likely(text.lower(), language, _TYPES, "factual")
    levels = _SUMMARY_LEVELS if intent == "SUMMARY" else _LEVELS[kind]
    return QuestionAnalysis(intent, sure, kind, certain, entities_in(text), is_multi_hop(text), levels, _HINTS[intent])


def _most_likely(text: str, language: str, table: Mapping[T, _Weights], plain: T) -> tuple[T, float]:
    """The class with the greatest weight, and its share of all weights; the first of the table where two are equal."""
    strengths = {name: strength for name, one in table.items() if (strength := _strength(text, language, one))}
    if not strengths:
        return plain, 1 - FACT_WEIGHT
    best = max(strengths, key=lambda name: strengths[name])
    return best, round(strengths[best] / (sum(strengths.values()) + FACT_WEIGHT), 2)


def _strength(text: str, language: str, weights: _Weights) -> float:
    """The weights of the patterns that match, combined as independent probabilities."""
    return 1 - math.prod(
        1 - weight for weight, patterns in weights if any(matches(text, pattern, language) for pattern in patterns)
    )
