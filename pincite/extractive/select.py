"""Which sentences are quoted: as many as it takes to be fairly sure, three at most, and what stands together as one."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

from pincite.core.query.hits import Hit
from pincite.extractive.score import Fit
from pincite.extractive.sentences import Sentence

ENOUGH = 0.85
"""Sentences are added until the likelihood that one of them answers is this; docs/evaluation.md has what others bring."""
LEAST = 0.05
"""A sentence less likely than this to be the one is not added."""
MOST = 3
ALIKE = 0.7
"""Two sentences with such a share of their words in common say the same."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Sentences that follow each other in a source, quoted as one."""

    sentences: tuple[Sentence, ...]

    @property
    def source(self) -> int:
        """The number of the source it is of."""
        return self.sentences[0].source

    @property
    def start(self) -> int:
        """Where it begins in the source's text."""
        return self.sentences[0].start

    @property
    def end(self) -> int:
        """Where it ends there."""
        return self.sentences[-1].end


def choose(found: Sequence[Fit]) -> list[Sentence]:
    """The best sentence, and further ones of its language that say something else, as long as one is needed."""
    shares = likelihoods(found)
    chosen, sure = [found[0].sentence], shares[0]
    for fit, share in zip(found[1:], shares[1:], strict=True):
        if len(chosen) == MOST or sure >= ENOUGH or share < LEAST:
            break
        if fit.sentence.language == chosen[0].language and not any(_alike(fit.sentence, one) for one in chosen):
            chosen.append(fit.sentence)
            sure += share
    return chosen


def likelihoods(found: Sequence[Fit]) -> list[float]:
    """How likely each sentence is the one that answers, if one does."""
    raised = [exp(fit.score - found[0].score) for fit in found]
    total = sum(raised)
    return [one / total for one in raised]


def passages(chosen: Sequence[Sentence], sources: Sequence[Hit]) -> list[Passage]:
    """The sentences as they are quoted, in the order they were chosen; what follows each other goes with the first of it."""
    left, made = list(chosen), list[Passage]()
    while left:
        group = [left.pop(0)]
        while near := next((one for one in left if _joins(one, group, sources)), None):
            left.remove(near)
            group.append(near)
        made.append(Passage(tuple(sorted(group, key=lambda one: one.start))))
    return made


def _joins(one: Sentence, group: Sequence[Sentence], sources: Sequence[Hit]) -> bool:
    """Whether a sentence stands right before or after one of these, in the same paragraph."""
    text = sources[one.source - 1].chunk.text
    for other in group:
        if other.source == one.source and abs(other.number - one.number) == 1 and not one.is_row and not other.is_row:
            first, second = sorted((one, other), key=lambda sentence: sentence.start)
            gap = text[first.end : second.start]
            return not gap.strip() and gap.count("\n") < 2
    return False


def _alike(one: Sentence, other: Sentence) -> bool:
    return len(one.held & other.held) >= ALIKE * len(one.held | other.held)
