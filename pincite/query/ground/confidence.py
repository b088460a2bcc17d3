"""How far an answer can be relied on: a calibrated estimate that it is right, and why, in words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pincite.core.query.answer import Confidence, ConfidenceLevel, Groundedness
from pincite.core.query.hits import Hit
from pincite.query.ground.support import MIN_SUPPORT
from pincite.text.terms import query_terms, question_language, terms

HIGH_SCORE, MEDIUM_SCORE = 0.8, 0.5
"""The levels of a calibrated score; docs/evaluation.md has how often answers of each are right."""
COUNT_LEVELS: tuple[tuple[ConfidenceLevel, int, float], ...] = (("high", 3, 0.5), ("medium", 2, 0.3))
"""The rule that counts: so many passages, and so high a mean similarity."""
CLOSE_LEAD = 1.5
"""What is cited leads by less than this over a source that is not: then that one is named among the reasons."""
MIN_LIKELIHOOD = 0.02
"""What is less likely than this is not told apart."""
MIN_AGREEMENT = 0.5
"""Where other drafts make fewer of an answer's statements than this, it is not high."""


@dataclass(frozen=True, slots=True)
class Curve:
    """How likely what an answer cites answers the question.

    The logistic of `bias` + (`slope` × the relevance of what is cited + `lead` × how far its log-odds are above those of
    what is not) × the part of the question that is covered: a passage as relevant that was left aside may be the one.
    """

    bias: float
    slope: float
    lead: float


# Fitted by `./run bench confidence --data DIR`; see docs/evaluation.md.
FITTED_CURVE = Curve(-0.11, 0.78, 0.44)


@dataclass(frozen=True, slots=True)
class ConfidenceInputs:
    """What speaks for an answer and against it.

    `relevant` are the relevances of the sources it stands on, `answered` is the part of the question that these cover,
    `missing` what nothing was found about, and `rival` the highest relevance of a source that it does not cite.
    """

    relevant: tuple[float, ...]
    groundedness: Groundedness
    answered_share: float
    missing: tuple[str, ...] = ()
    uncited: bool = False
    conflicts: int = 0
    agreement: float | None = None
    rival: float = 0.0


def calibrated_confidence(grounds: ConfidenceInputs) -> Confidence:
    """By the fitted curve; an answer that its own model cited nothing for, or whose sources disagree, is not high."""
    if not grounds.relevant:
        return Confidence(0.0, "low", "no sentence stands on a source")
    score = (
        estimate_likelihood(max(grounds.relevant), grounds.rival, grounds.answered_share) * grounds.groundedness.score
    )
    level: ConfidenceLevel = "high" if score >= HIGH_SCORE else "medium" if score >= MEDIUM_SCORE else "low"
    disagreed = grounds.agreement is not None and grounds.agreement < MIN_AGREEMENT
    if level == "high" and (grounds.uncited or grounds.conflicts or disagreed):
        level, score = "medium", min(score, HIGH_SCORE - 0.01)
    return Confidence(round(score, 4), level, _reason(grounds))


def raw_confidence(grounds: ConfidenceInputs) -> float:
    """Relevance of what the answer stands on, times how far it does."""
    return max(grounds.relevant, default=0.0) * grounds.groundedness.score


def estimate_likelihood(relevance: float, rival: float, answered: float, curve: Curve = FITTED_CURVE) -> float:
    """How likely what an answer stands on is right."""
    ahead = curve.slope * relevance + curve.lead * log_odds_lead(relevance, rival)
    return 1 / (1 + math.exp(-(curve.bias + ahead * answered)))


def log_odds_lead(relevance: float, rival: float) -> float:
    """How much likelier one passage is to be about a question than another, in log-odds."""
    return _log_odds(relevance) - _log_odds(rival)


def _log_odds(likelihood: float) -> float:
    within = min(max(likelihood, MIN_LIKELIHOOD), 1 - MIN_LIKELIHOOD)
    return math.log(within / (1 - within))


def answered_share(question: str, told: Sequence[str]) -> float:
    """The share of a question's words that stand in what is told: the passages cited, with their titles and headings."""
    language = question_language(question)
    wanted = frozenset(query_terms(question, [language]))
    held = frozenset(terms(" ".join(told), language))
    return len(wanted & held) / len(wanted) if wanted else 0.0


def counted_confidence(grounds: ConfidenceInputs, hits: Sequence[Hit], cited: int) -> Confidence:
    """By the number of passages found and their mean similarity."""
    if not hits:
        return Confidence(0.0, "low", "no relevant passage was found")
    mean = sum(hit.similarity for hit in hits) / len(hits)
    level: ConfidenceLevel = next(
        (name for name, count, least in COUNT_LEVELS if len(hits) >= count and mean >= least), "low"
    )
    found = f"{len(hits)} source{'' if len(hits) == 1 else 's'}"
    reasons: dict[str, str] = {
        "high": f"{len(hits)} relevant sources with {cited} citation{'' if cited == 1 else 's'}",
        "medium": f"{found} found, average relevance {mean:.0%}",
        "low": f"only {found} found" if len(hits) < COUNT_LEVELS[1][1] else f"low relevance scores (avg {mean:.0%})",
    }
    return Confidence(round(raw_confidence(grounds), 4), level, reasons[level])


def _reason(grounds: ConfidenceInputs) -> str:
    """What the score comes from, and what lowered it."""
    sentences = grounds.groundedness.sentences
    supported = sum(sentence.support >= MIN_SUPPORT for sentence in sentences)
    count = len(grounds.relevant)
    parts = [
        f"{count} cited source{'' if count == 1 else 's'}",
        f"relevance {max(grounds.relevant):.0%}",
        "every sentence supported"
        if supported == len(sentences)
        else f"{supported} of {len(sentences)} sentences supported",
    ]
    if grounds.missing:
        parts.append(f"nothing found about {', '.join(f'“{word}”' for word in grounds.missing[:3])}")
    if log_odds_lead(max(grounds.relevant), grounds.rival) < CLOSE_LEAD:
        parts.append(f"another source of relevance {grounds.rival:.0%} is not cited")
    if grounds.uncited:
        parts.append("the model cited nothing itself")
    if grounds.conflicts:
        parts.append("sources disagree")
    if grounds.agreement is not None and grounds.agreement < 1:
        parts.append(f"other drafts agree with {grounds.agreement:.0%} of it")
    return ", ".join(parts)
