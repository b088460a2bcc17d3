"""Passages that say the same as the one a question was made from: finding one of them is not wrong."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from pincite.core.evaluations import Place, SampledPassage, SetQuestion
from pincite.evaluate.questions.rule_questions import Sample
from pincite.text.terms import terms

SAME = 0.9
"""A passage that holds so much of what a question was made from holds the answer."""
LOOKED_UP = 3
"""Rarest words by which such passages are looked for."""


def with_twins(questions: Sequence[SetQuestion], sample: Sample) -> list[SetQuestion]:
    """The questions with the places that are as good as their own."""
    holds: dict[str, set[int]] = defaultdict(set)
    for number, passage in enumerate(sample.passages):
        for term in set(terms(passage.text, passage.language)):
            holds[term].add(number)
    own = {(one.document_id, one.ordinal): one for one in sample.passages}
    return [replace(one, twins=tuple(_twins(one, own, sample, holds))) for one in questions]


def _twins(
    question: SetQuestion, own: dict[tuple[str, int], SampledPassage], sample: Sample, holds: dict[str, set[int]]
) -> list[Place]:
    passage = own[question.place.document_id, question.chunk]
    start, end = question.place.start - passage.start, question.place.end - passage.start
    told = set(terms(passage.text[max(0, start) : end], passage.language))
    rarest = sorted(told, key=lambda term: (sample.frequency.get(term, 0), term))[:LOOKED_UP]
    near = set().union(*(holds[term] for term in rarest)) if rarest else set()
    found = []
    for number in sorted(near):
        other = sample.passages[number]
        held = len(told.intersection(terms(other.text, passage.language)))
        if not other.place.overlaps(question.place) and held >= SAME * len(told):
            found.append(other.place)
    return found
