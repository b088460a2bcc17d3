"""The extractive summary of a cluster: its most central sentences, each with the passage that states it."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pincite.text.sentences import sentences
from pincite.text.terms import terms

MAX_SENTENCES = 6
MAX_CHARS = 1200
"""Length of a summary."""
MIN_TERMS, MAX_TERMS = 4, 40
"""Index terms of a sentence that can be part of a summary; a heading or a fragment has fewer."""
ENDS = (".", "!", "?", "…", "。", "！", "？")
"""What a sentence of prose ends with, unlike a heading, a table row or a line of code."""
FROM_SAME_CHILD = 0.7
"""What the score of a sentence is multiplied by for each sentence already chosen from the same child."""
REPEATED = 0.5
"""What the weight of a term is multiplied by once a chosen sentence has it, so that a summary does not repeat itself."""


@dataclass(frozen=True, slots=True)
class CentralSentence:
    """A sentence of a passage, by the passage's key and the span in its text."""

    passage: int
    start: int
    end: int
    text: str
    terms: frozenset[str] = field(repr=False)


def sentences_of(passage: int, text: str, language: str) -> tuple[CentralSentence, ...]:
    """Return the sentences of a passage that a summary can be made of."""
    found = []
    for start, end in sentences(text):
        sentence = text[start:end]
        of_it = frozenset(terms(sentence, language))
        if MIN_TERMS <= len(of_it) <= MAX_TERMS and len(sentence) <= MAX_CHARS and sentence.endswith(ENDS):
            found.append(CentralSentence(passage, start, end, sentence, of_it))
    return tuple(found)


def central_sentences(
    children: Sequence[Sequence[CentralSentence]], nearness: Sequence[float]
) -> tuple[CentralSentence, ...]:
    """Choose the most central sentences of several children; `nearness` is each child's cosine to their centroid.

    A term weighs as much as the share of children that have it. A sentence's score is the sum of its terms' weights,
    divided by the root of their number.
    """
    having = Counter(term for child in children for term in frozenset[str]().union(*(one.terms for one in child)))
    weights = {term: count / len(children) for term, count in having.items()}
    near = list(nearness)
    left = [(one, number) for number, child in enumerate(children) for one in child]
    chosen: list[CentralSentence] = []
    room = MAX_CHARS
    while left and len(chosen) < MAX_SENTENCES:
        best, of = max(left, key=lambda pair: near[pair[1]] * _score(pair[0], weights))
        chosen.append(best)
        room -= len(best.text)
        near[of] *= FROM_SAME_CHILD
        weights |= {term: weights[term] * REPEATED for term in best.terms}
        left = [(one, number) for one, number in left if one.text != best.text and len(one.text) <= room]
    return tuple(chosen)


def _score(sentence: CentralSentence, weights: Mapping[str, float]) -> float:
    return math.fsum(weights[term] for term in sentence.terms) / math.sqrt(len(sentence.terms))
