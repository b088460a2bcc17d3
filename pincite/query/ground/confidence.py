"""The confidence of an answer: a calibrated likelihood that it is right, and the reasons."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pincite.core.query.answer import Confidence, ConfidenceLevel, Groundedness
from pincite.query.ground.support import MIN_SUPPORT
from pincite.text.terms import query_terms, question_language, terms

HIGH_SCORE, MEDIUM_SCORE = 0.92, 0.5
"""Minimum calibrated scores of these levels; docs/evaluation.md says how often answers of each are right."""
HIGH_PRODUCT = 0.8
"""Minimum product of relevance and grounding for the level high."""
COUNT_LEVELS: tuple[tuple[ConfidenceLevel, int, float], ...] = (("high", 3, 0.5), ("medium", 2, 0.3))
"""The rule `counted`: the level, the minimum of passages and the minimum mean similarity."""
CLOSE_LEAD = 1.5
"""With a smaller lead (log-odds) of the cited sources over one not cited, the reasons mention that source."""
MIN_LIKELIHOOD = 0.02
"""Likelihoods are limited to this minimum, and to 1 minus it, before log-odds are taken."""
MIN_AGREEMENT = 0.5
"""With a lower agreement of the other drafts, the confidence is not high."""


@dataclass(frozen=True, slots=True)
class Curve:
    """The likelihood that the cited sources answer the question.

    It is the logistic of `bias` + (`slope` × the relevance of the cited sources + `lead` × their lead in log-odds
    over the sources not cited) × the answered share of the question + `read` × the reader's log-odds that the quotes
    answer. A source as relevant but not cited may be the right one.
    """

    bias: float
    slope: float
    lead: float
    read: float = 0.0


# Fitted by `./run bench confidence --data DIR`; see docs/evaluation.md.
FITTED_CURVE = Curve(0.63, 1.66, 0.26)
READ_CURVE = Curve(0.21, 0.98, 0.52, 0.26)
"""The curve where a reader has read the quotes."""
HIGH_READ_SCORE = 0.85
"""Minimum score of the level high by that curve."""
MIN_READ = 0.5
"""The reader's probability that the quotes answer below which the confidence is not high."""


@dataclass(frozen=True, slots=True)
class ConfidenceInputs:
    """The inputs of the confidence of an answer.

    `relevant` are the relevances of the cited sources, `answered_share` is the share of the question that these cover,
    `missing` are the aspects without evidence, and `rival` is the highest relevance of a source not cited. `read` is the
    reader's probability that the first quote answers, which is the best one; None where no reader read it.
    """

    relevant: tuple[float, ...]
    groundedness: Groundedness
    answered_share: float
    missing: tuple[str, ...] = ()
    uncited: bool = False
    conflicts: int = 0
    agreement: float | None = None
    rival: float = 0.0
    computed: bool = False
    across: bool = False
    read: float | None = None


def calibrated_confidence(inputs: ConfidenceInputs) -> Confidence:
    """The confidence by the fitted curve: the likelihood that the cited sources are the right ones × grounding."""
    likelihood = estimate_likelihood(
        max(inputs.relevant, default=0.0), inputs.rival, inputs.answered_share, inputs.read
    )
    high = HIGH_SCORE if inputs.read is None else HIGH_READ_SCORE
    found = _confidence_of(inputs, likelihood * inputs.groundedness.score, high)
    return replace(found, score=high - 0.01) if found.level != "high" and found.score >= high else found


def product_confidence(inputs: ConfidenceInputs) -> Confidence:
    """The confidence as relevance × grounding."""
    return _confidence_of(inputs, raw_confidence(inputs), high=HIGH_PRODUCT)


def _confidence_of(inputs: ConfidenceInputs, score: float, high: float = HIGH_SCORE) -> Confidence:
    """The score with its level and reasons.

    The level is not high where the model cited nothing, sources or drafts disagree, nothing was found about a word of the
    question, the source is in another language, the reader does not find the answer in the quotes, or a value was
    computed from a table: code chose the column and the rows.
    """
    if not inputs.relevant:
        return Confidence(0.0, "low", "no sentence is supported by a source")
    level: ConfidenceLevel = "high" if score >= high else "medium" if score >= MEDIUM_SCORE else "low"
    disagreed = inputs.agreement is not None and inputs.agreement < MIN_AGREEMENT
    unread = inputs.read is not None and inputs.read < MIN_READ
    against = inputs.uncited or inputs.conflicts or inputs.computed or inputs.missing or inputs.across
    if level == "high" and (against or disagreed or unread):
        level = "medium"
    return Confidence(round(score, 4), level, _reason(inputs))


def raw_confidence(inputs: ConfidenceInputs) -> float:
    """The highest relevance of the cited sources times the groundedness."""
    return max(inputs.relevant, default=0.0) * inputs.groundedness.score


def estimate_likelihood(
    relevance: float, rival: float, answered: float, read: float | None = None, curve: Curve | None = None
) -> float:
    """The likelihood that the cited sources are the right ones."""
    used = curve or (FITTED_CURVE if read is None else READ_CURVE)
    evidence = (used.slope * relevance + used.lead * log_odds_lead(relevance, rival)) * answered
    return 1 / (1 + math.exp(-(used.bias + evidence + (0.0 if read is None else used.read * log_odds(read)))))


def log_odds_lead(relevance: float, rival: float) -> float:
    """The lead of one relevance over another, in log-odds."""
    return log_odds(relevance) - log_odds(rival)


def log_odds(likelihood: float) -> float:
    """The log-odds of a likelihood, which is limited by `MIN_LIKELIHOOD`."""
    limited = min(max(likelihood, MIN_LIKELIHOOD), 1 - MIN_LIKELIHOOD)
    return math.log(limited / (1 - limited))


def answered_share(question: str, cited_texts: Sequence[str]) -> float:
    """The share of a question's terms that are in the cited texts: quotes, titles and headings."""
    language = question_language(question)
    wanted = frozenset(query_terms(question, [language]))
    held = frozenset(terms(" ".join(cited_texts), language))
    return len(wanted & held) / len(wanted) if wanted else 0.0


def counted_confidence(inputs: ConfidenceInputs, similarities: Sequence[float], cited: int) -> Confidence:
    """The confidence by the similarities of the passages found: their number and mean; `cited` are the titles cited."""
    if not similarities:
        return Confidence(0.0, "low", "no relevant passage was found")
    passages, mean = len(similarities), sum(similarities) / len(similarities)
    level: ConfidenceLevel = next(
        (name for name, count, least in COUNT_LEVELS if passages >= count and mean >= least), "low"
    )
    found = f"{passages} source{'' if passages == 1 else 's'}"
    reasons: dict[str, str] = {
        "high": f"{passages} relevant sources with {cited} citation{'' if cited == 1 else 's'}",
        "medium": f"{found} found, average relevance {mean:.0%}",
        "low": f"only {found} found" if passages < COUNT_LEVELS[1][1] else f"low relevance scores (avg {mean:.0%})",
    }
    return Confidence(round(raw_confidence(inputs), 4), level, reasons[level])


def _reason(inputs: ConfidenceInputs) -> str:
    """The reasons for the score, and those that lowered it."""
    sentences = inputs.groundedness.sentences
    supported = sum(sentence.support >= MIN_SUPPORT for sentence in sentences)
    count = len(inputs.relevant)
    parts = [
        f"{count} cited source{'' if count == 1 else 's'}",
        f"relevance {max(inputs.relevant):.0%}",
        "every sentence supported"
        if supported == len(sentences)
        else f"{supported} of {len(sentences)} sentences supported",
    ]
    if inputs.missing:
        parts.append(f"nothing found about {', '.join(f'“{word}”' for word in inputs.missing[:3])}")
    if log_odds_lead(max(inputs.relevant), inputs.rival) < CLOSE_LEAD:
        parts.append(f"another source of relevance {inputs.rival:.0%} is not cited")
    if inputs.uncited:
        parts.append("the model cited nothing itself")
    if inputs.across:
        parts.append("the source is in another language")
    if inputs.computed:
        parts.append("computed from the rows shown")
    if inputs.conflicts:
        parts.append("sources disagree")
    if inputs.agreement is not None and inputs.agreement < 1:
        parts.append(f"other drafts agree with {inputs.agreement:.0%} of it")
    return ", ".join(parts)
