"""The sentences that are quoted: up to three, until one of them probably answers; neighbouring ones as one passage."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

from pincite.core.query.hits import Hit
from pincite.extractive.score import ScoredSentence
from pincite.extractive.sentences import Sentence

ENOUGH_PROBABILITY = 0.95
"""Sentences are added until one of them answers with this probability; docs/evaluation.md compares other values."""
MIN_PROBABILITY = 0.03
"""Probability below which a sentence is not added."""
MAX_SENTENCES = 3
MIN_RELEVANCE_SHARE = 0.5
"""Share of the relevance of the best sentence's passage that another passage has, so that it is quoted, too."""
DUPLICATE_OVERLAP = 0.7
"""Share of common terms from which on two sentences are duplicates."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Sentences that follow each other in a source, quoted as one."""

    sentences: tuple[Sentence, ...]

    @property
    def source(self) -> int:
        """The number of its source."""
        return self.sentences[0].source

    @property
    def start(self) -> int:
        """Its start offset in the text of the source."""
        return self.sentences[0].start

    @property
    def end(self) -> int:
        """Its end offset in the text of the source."""
        return self.sentences[-1].end


def select_sentences(found: Sequence[ScoredSentence]) -> list[Sentence]:
    """The best sentence, and further ones of its language that are no duplicates, until one probably answers."""
    found = [one for one in found if not one.sentence.is_salutation] or found
    shares = probabilities(found)
    chosen, total = [found[0].sentence], shares[0]
    for scored, share in zip(found[1:], shares[1:], strict=True):
        if len(chosen) == MAX_SENTENCES or total >= ENOUGH_PROBABILITY or share < MIN_PROBABILITY:
            break
        one, best = scored.sentence, chosen[0]
        if one.source != best.source and one.relevance < MIN_RELEVANCE_SHARE * best.relevance:
            continue
        if one.language == best.language and not any(_are_duplicates(one, other) for other in chosen):
            chosen.append(one)
            total += share
    return chosen


def probabilities(found: Sequence[ScoredSentence]) -> list[float]:
    """The probability that each sentence is the one that answers, if one does: the softmax of the scores."""
    raised = [exp(scored.score - found[0].score) for scored in found]
    total = sum(raised)
    return [one / total for one in raised]


def passages(chosen: Sequence[Sentence], sources: Sequence[Hit]) -> list[Passage]:
    """The chosen sentences in their order, neighbouring ones joined to one passage."""
    left, made = list(chosen), list[Passage]()
    while left:
        group = [left.pop(0)]
        while near := next((one for one in left if _joins(one, group, sources)), None):
            left.remove(near)
            group.append(near)
        made.append(Passage(tuple(sorted(group, key=lambda one: one.start))))
    return made


def _joins(one: Sentence, group: Sequence[Sentence], sources: Sequence[Hit]) -> bool:
    """Whether a sentence is next to one of the group, in the same paragraph."""
    text = sources[one.source - 1].chunk.text
    if one.is_log_line:
        return False
    for other in group:
        if other.source == one.source and abs(other.number - one.number) == 1 and not one.is_row and not other.is_row:
            first, second = sorted((one, other), key=lambda sentence: sentence.start)
            gap = text[first.end : second.start]
            return not gap.strip() and gap.count("\n") < 2
    return False


def _are_duplicates(one: Sentence, other: Sentence) -> bool:
    return len(one.terms & other.terms) >= DUPLICATE_OVERLAP * len(one.terms | other.terms)
