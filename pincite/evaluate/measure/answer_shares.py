"""Shares of right, partly right, wrong and wrongly refused answers, by kind and language, with intervals."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from pincite.core.evaluations import AnswerResult, AnswerVerdict, Interval
from pincite.core.query.answer import ConfidenceLevel
from pincite.evaluate.measure import bootstrap

VERDICTS: tuple[AnswerVerdict, ...] = get_args(AnswerVerdict)
"""The verdicts, the main one first."""

GroupedBy = Literal["all", "kind", "language"]


@dataclass(frozen=True, slots=True)
class AnswerGroup:
    """The answers to a group of questions: their number and the share of each verdict."""

    by: GroupedBy
    name: str
    questions: int
    shares: Mapping[AnswerVerdict, Interval]


@dataclass(frozen=True, slots=True)
class ConfidenceGroup:
    """The answers with a level of confidence: their number and the share that is right."""

    level: str
    questions: int
    right: Interval


@dataclass(frozen=True, slots=True)
class AnswerSummary:
    """The shares of all answers and of each group, the answer lengths in words, and the shares by confidence."""

    groups: tuple[AnswerGroup, ...]
    median_words: int
    p90_words: int
    confidence: tuple[ConfidenceGroup, ...]


def summarise(results: Sequence[AnswerResult]) -> AnswerSummary:
    """Summarise judged answers; kinds and languages are left out if no question names one."""
    lengths = sorted(one.words for one in results)
    levels = [level for level in get_args(ConfidenceLevel) if any(one.confidence == level for one in results)]
    return AnswerSummary(
        tuple(_groups(results)),
        _percentile(lengths, 0.5),
        _percentile(lengths, 0.9),
        tuple(_confidence(level, [one for one in results if one.confidence == level]) for level in levels),
    )


def verdict_scores(results: Sequence[AnswerResult]) -> dict[str, tuple[float, ...]]:
    """Return each verdict as 1 or 0 for every answer."""
    return {verdict: tuple(float(one.verdict == verdict) for one in results) for verdict in VERDICTS}


def _groups(results: Sequence[AnswerResult]) -> Iterator[AnswerGroup]:
    yield _group("all", "", results)
    kinds = dict.fromkeys(one.kind for one in results)
    languages = dict.fromkeys(one.language for one in results)
    for kind in kinds if any(kinds) else ():
        yield _group("kind", kind, [one for one in results if one.kind == kind])
    for language in languages if any(languages) else ():
        yield _group("language", language, [one for one in results if one.language == language])


def _group(by: GroupedBy, name: str, results: Sequence[AnswerResult]) -> AnswerGroup:
    scores = verdict_scores(results)
    return AnswerGroup(by, name, len(results), {verdict: bootstrap.mean(scores[verdict]) for verdict in VERDICTS})


def _confidence(level: str, results: Sequence[AnswerResult]) -> ConfidenceGroup:
    return ConfidenceGroup(level, len(results), bootstrap.mean(verdict_scores(results)["right"]))


def _percentile(ordered: Sequence[int], share: float) -> int:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0
