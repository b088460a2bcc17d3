"""Passages in another language than the question: words cannot match, so they get the usual score of words."""

from collections.abc import Sequence
from dataclasses import replace

from pincite.core.query.hits import Hit, Scale, ScoreContribution
from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.query.retrieve.fusion import Ranking
from pincite.text import lang
from pincite.text.terms import question_language

MAX_NEAREST = 10
"""Passages nearest in meaning that are read besides the best ones: one of them may be in another language."""
MAX_COMPARED = 10
"""Passages in the question's language, the best first, whose lexical scores make the usual one."""
USUAL_SHARE = 0.8
"""Of their mean; with 1, passages in the question's language lose places (docs/evaluation.md)."""


def compares_languages(run: Run, plan: Plan) -> bool:
    """Whether passages in another language get the usual lexical score: one question, searched by both engines."""
    rag, both = run.settings.rag, {"dense", "lexical"} <= {search.via for search in plan.searches}
    return rag.across_languages and rag.fusion == "relative_score" and both and not plan.many


def nearest_keys(rankings: Sequence[Ranking]) -> list[int]:
    """The passages nearest in meaning to the question."""
    dense = (ranking.matches for ranking in rankings if ranking.search.via == "dense" and ranking.search.query == 0)
    return [match.key for matches in dense for match in matches[:MAX_NEAREST]]


def with_usual_lexical_score(text: str, hits: Sequence[Hit], nearest: Sequence[Hit]) -> list[Hit]:
    """The best of the hits and of the nearest ones that are in another language than the question.

    Those in another language have at least USUAL_SHARE of the mean lexical share of those in the question's language.
    """
    asked = question_language(text)
    own = [_lexical_share(hit) for hit in hits if hit.chunk.language == asked][:MAX_COMPARED]
    foreign = [hit for hit in nearest if _is_foreign(hit, asked)]
    if not own:
        return list(hits)
    usual = USUAL_SHARE * sum(own) / len(own)
    raised = [_raised(hit, usual) if _is_foreign(hit, asked) else hit for hit in (*hits, *foreign)]
    return sorted(raised, key=lambda hit: (-hit.score, hit.chunk.key))[: len(hits)]


def _is_foreign(hit: Hit, asked: str) -> bool:
    return hit.chunk.language != asked and hit.chunk.language in lang.LANGUAGES


def _lexical_share(hit: Hit) -> float:
    return sum(place.share for place in hit.placings if place.via == "lexical")


def _raised(hit: Hit, usual: float) -> Hit:
    missing = usual - _lexical_share(hit)
    if missing <= 0:
        return hit
    contribution = ScoreContribution("language", 0, None, missing, missing, Scale(1.0, 0.0, 1.0))
    score = hit.score + missing
    return replace(hit, score=score, hybrid_score=score, placings=(*hit.placings, contribution))
