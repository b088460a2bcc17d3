"""Deduplication, and diversification by maximal marginal relevance (MMR).

Two passages are duplicates where more than 95 % of their words are the same, counted with repeats, and the other words
are neither numbers nor names: two contracts that differ in the sum or the party are no duplicates.
"""

import re
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from heapq import heapify, heappop, heappush

from pincite.config.branches.retrieval import Rag
from pincite.core.query.hits import Adjustment, Hit, Scale
from pincite.core.query.plan import Plan
from pincite.query.rank.relevance import plain_chunk_terms
from pincite.text.terms import words

MIN_DUPLICATE_SHARE = 0.95
"""Share of common words above which two texts are duplicates."""
MIN_LENGTH_RATIO = 0.9
"""Texts with a lower ratio of lengths are not compared."""
MIN_SHARED_TOKENS = 0.8
"""Texts with a lower share of common tokens (split at white space) are not compared word by word."""

TOKEN_MARKS = 512
"""Marks that stand for the tokens of a text."""
SHORT_TEXT_CHARS = 100
"""Texts of at most this many characters are always compared word by word: punctuation weighs much in their tokens."""

_WORD = re.compile(r"[^\W_]+")


def dedupe(hits: Sequence[Hit], limit: int | None = None) -> list[Hit]:
    """The hits without duplicates of better ones, in their order, at most `limit`.

    Only hits of one level are compared: a section of one passage has the same text and is another result.
    """
    kept: list[Hit] = []
    lengths: list[tuple[float, int]] = []
    for hit in hits:
        if len(kept) == limit:
            break
        duplicate = _first_duplicate(hit, kept, lengths)
        if duplicate is None:
            insort(lengths, (len(hit.chunk.text), len(kept)))
            kept.append(hit)
        else:
            kept[duplicate] = replace(kept[duplicate], also_in=(*kept[duplicate].also_in, hit.chunk))
    return kept


def _first_duplicate(hit: Hit, kept: Sequence[Hit], lengths: Sequence[tuple[float, int]]) -> int | None:
    """The number of the best kept hit that a hit duplicates; `lengths` are those of the kept texts, in order."""
    text, level = hit.chunk.text, hit.chunk.level
    first = bisect_left(lengths, (MIN_LENGTH_RATIO * len(text),))  # the others are too short
    last = bisect_right(lengths, float(len(text)), lo=first, key=lambda one: MIN_LENGTH_RATIO * one[0])  # or too long
    for n in sorted([n for _, n in lengths[first:last]]):
        other = kept[n].chunk
        if other.level == level and _is_duplicate(text, other.text):
            return n
    return None


def _is_duplicate(one: str, other: str) -> bool:
    """Whether two texts of similar length are duplicates; the cheap checks come first."""
    if one == other:
        return True
    if len(one) > SHORT_TEXT_CHARS or len(other) > SHORT_TEXT_CHARS:
        mine, theirs = _tokens(one), _tokens(other)
        least = MIN_SHARED_TOKENS * max(len(mine.words), len(theirs.words))
        if mine.most_shared(theirs) < least or len(mine.words & theirs.words) < least:
            return False
    return _has_same_words(one, other)


@dataclass(frozen=True, slots=True)
class _Tokens:
    """The tokens of a text, and a number in which each of them sets one of a few bits."""

    words: frozenset[str]
    bits: int

    def most_shared(self, other: "_Tokens") -> int:
        """The number of tokens that two texts share at most: each bit of one alone is a token that the other lacks."""
        mine, theirs = self.bits & ~other.bits, other.bits & ~self.bits
        return min(len(self.words) - mine.bit_count(), len(other.words) - theirs.bit_count())


@lru_cache(maxsize=1024)
def _tokens(text: str) -> _Tokens:
    """The tokens of a text; cached, since later questions find the same passages."""
    found, marks = frozenset(text.lower().split()), bytearray(TOKEN_MARKS)
    for value in map(hash, found):
        marks[value % TOKEN_MARKS] = 1
    return _Tokens(found, int.from_bytes(marks, "little"))


def _has_same_words(one: str, other: str) -> bool:
    mine, theirs = Counter(words(one)), Counter(words(other))
    shared = (mine & theirs).total()
    if shared <= MIN_DUPLICATE_SHARE * max(mine.total(), theirs.total()):
        return mine == theirs
    differing = {*(mine - theirs), *(theirs - mine)}
    return not any(map(_is_figure, differing)) and not differing & (_names(one) | _names(other))


def _is_figure(word: str) -> bool:
    return any(map(str.isdigit, word))


def _names(text: str) -> set[str]:
    """The capitalised words in lower case, including the first words of sentences."""
    return {word.lower() for word in _WORD.findall(text) if word[0].isupper()}


MAX_MMR_STEPS = 100
"""Hits that MMR selects one by one; the rest are ordered by their value after these."""
SAME_DOCUMENT_SIMILARITY = 0.5
"""Minimum similarity of two passages of one document."""
MIN_SCORE_RANGE = 0.1
"""Scores are compared on a range of at least this share of the best one: nearly equal scores stay nearly equal."""


def diversifies(plan: Plan, rag: Rag) -> bool:
    """Whether MMR is applied: where `rag.mmr` is on, or auto and the kind of question benefits from it."""
    return rag.mmr == "on" or (rag.mmr == "auto" and plan.analysis.hints.mmr)


def mmr(hits: Sequence[Hit], weight: float, limit: int) -> list[Hit]:
    """The hits in MMR order, at most `limit`; the score of each becomes its MMR value when it was selected.

    These values never rise from one hit to the next, so the scores alone give the order again.
    """
    if len(hits) < 2:
        return list(hits)
    scores = [hit.score for hit in hits]
    span = max(max(scores) - min(scores), MIN_SCORE_RANGE * abs(max(scores)))
    scale = Scale(weight, min(scores), span or 1.0)
    terms_of = [plain_chunk_terms(hit.chunk) for hit in hits]
    similarity, compared, chosen = [0.0] * len(hits), [0] * len(hits), list[int]()

    def mmr_value(n: int) -> float:
        """The value of a hit beside all that are chosen."""
        for best in chosen[compared[n] :]:
            same = SAME_DOCUMENT_SIMILARITY if hits[n].chunk.document_id == hits[best].chunk.document_id else 0.0
            shared = len(terms_of[n] & terms_of[best])
            either = len(terms_of[n]) + len(terms_of[best]) - shared
            similarity[n] = max(similarity[n], same, shared / (either or 1))
        compared[n] = len(chosen)
        return scale.share(scores[n]) - (1 - weight) * similarity[n]

    def adjusted(n: int, value: float) -> Hit:
        adjustment = Adjustment("mmr", similarity[n], scores[n], value, scale)
        return replace(hits[n], score=value, adjustments=(*hits[n].adjustments, adjustment))

    # Values only fall: one that is still the highest when it is computed anew is so among all, the others' old ones.
    waiting, selected = [(-mmr_value(n), n) for n in range(len(hits))], list[Hit]()
    heapify(waiting)
    while waiting and len(selected) < min(limit, MAX_MMR_STEPS):
        _, best = heappop(waiting)
        value = mmr_value(best)
        if waiting and waiting[0] < (-value, best):
            heappush(waiting, (-value, best))
            continue
        selected.append(adjusted(best, value))
        chosen.append(best)
    rest = sorted(((mmr_value(n), -n) for _, n in waiting), reverse=True) if len(selected) < limit else []
    return selected + [adjusted(-n, value) for value, n in rest[: limit - len(selected)]]
