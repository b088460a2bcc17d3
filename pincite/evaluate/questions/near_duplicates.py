"""Find near-duplicates of the passage a question was made from; they count as relevant too."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from pincite.core.evaluations import Place, SampledPassage, SetQuestion
from pincite.evaluate.questions.rule_questions import Sample
from pincite.text.terms import terms

MIN_SHARED_TERMS = 0.9
"""Share of the terms of the original place that a near-duplicate must contain."""

LOOKUP_TERMS = 3
"""Number of rarest terms used to look up candidates."""


def add_duplicate_places(questions: Sequence[SetQuestion], sample: Sample) -> list[SetQuestion]:
    """Return the questions with the places of near-duplicates."""
    holds: dict[str, set[int]] = defaultdict(set)
    for number, passage in enumerate(sample.passages):
        for term in set(terms(passage.text, passage.language)):
            holds[term].add(number)
    own = {(one.document_id, one.ordinal): one for one in sample.passages}
    return [replace(one, twins=tuple(_duplicate_places(one, own, sample, holds))) for one in questions]


def _duplicate_places(
    question: SetQuestion, own: dict[tuple[str, int], SampledPassage], sample: Sample, holds: dict[str, set[int]]
) -> list[Place]:
    passage = own[question.place.document_id, question.chunk]
    start, end = question.place.start - passage.start, question.place.end - passage.start
    wanted = set(terms(passage.text[max(0, start) : end], passage.language))
    rarest = sorted(wanted, key=lambda term: (sample.frequency.get(term, 0), term))[:LOOKUP_TERMS]
    near = set().union(*(holds[term] for term in rarest)) if rarest else set()
    found = []
    for number in sorted(near):
        other = sample.passages[number]
        held = len(wanted.intersection(terms(other.text, passage.language)))
        if not other.place.overlaps(question.place) and held >= MIN_SHARED_TERMS * len(wanted):
            found.append(other.place)
    return found
