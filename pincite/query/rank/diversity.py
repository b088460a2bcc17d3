"""Passages that say the same appear once: the best stands for all and names the others.

Two passages are the same where more than 95 % of their words are, counted with repeats, and what differs is neither a
figure nor a name: two contracts that differ in the sum or the party are two contracts.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from pincite.config.branches.retrieval import Rag
from pincite.core.query.hits import Adjustment, Hit, Scale
from pincite.core.query.plan import Plan
from pincite.query.rank.relevance import chunk_terms
from pincite.text.terms import words

MIN_DUPLICATE_SHARE = 0.95
MIN_LENGTH_RATIO = 0.9
"""Texts whose lengths differ by more are not compared."""
MIN_SHARED_TOKENS = 0.8
"""Nor are those closely that share less of what stands between blanks."""

SHORT_TEXT_CHARS = 100
"""Characters of a text that is looked at closely straight away: a full stop is much of it."""

_WORD = re.compile(r"[^\W_]+")


def dedupe(hits: Sequence[Hit], wanted: int | None = None) -> list[Hit]:
    """The hits without those that say what a better one says, in their order, as many as are wanted.

    A section that is one passage says the same and is another result: only those of one level are compared.
    """
    kept: list[Hit] = []
    texts: list[_Text] = []
    for hit in hits:
        if len(kept) == wanted:
            break
        text = _Text(hit.chunk.text)
        same_level = (n for n, other in enumerate(kept) if other.chunk.level == hit.chunk.level)
        twin = next((n for n in same_level if text.says_what(texts[n])), None)
        if twin is None:
            kept.append(hit)
            texts.append(text)
        else:
            kept[twin] = replace(kept[twin], also_in=(*kept[twin].also_in, hit.chunk))
    return kept


class _Text:
    """A text, and its parts between blanks where another one is as long: most are never looked at."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def parts(self) -> frozenset[str]:
        return frozenset(self.text.lower().split())

    def says_what(self, other: "_Text") -> bool:
        """Whether two texts are the same; the cheap questions come first."""
        short, long = sorted((len(self.text), len(other.text)))
        if self.text == other.text or short < MIN_LENGTH_RATIO * long:
            return self.text == other.text
        few, many = sorted((len(self.parts), len(other.parts)))
        if long > SHORT_TEXT_CHARS and (
            few < MIN_SHARED_TOKENS * many or len(self.parts & other.parts) < MIN_SHARED_TOKENS * many
        ):
            return False
        return _has_same_words(self.text, other.text)


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
    """Words with a capital, in lower case; the first of a sentence among them, since nothing tells them apart."""
    return {word.lower() for word in _WORD.findall(text) if word[0].isupper()}


MAX_MMR_STEPS = 100
"""So many are chosen one after the other; the rest follow by what they are worth beside these."""
SAME_DOCUMENT_SIMILARITY = 0.5
"""Two passages of one document are at least so alike."""


def diversifies(plan: Plan, rag: Rag) -> bool:
    """Whether passages are spread: where the settings say so, and, unless they forbid it, where that serves the question."""
    return rag.mmr == "on" or (rag.mmr == "auto" and plan.analysis.hints.mmr)


def mmr(hits: Sequence[Hit], weight: float, wanted: int) -> list[Hit]:
    """The hits in the order in which each adds most; the score becomes what it was worth when it was chosen.

    That never rises from one to the next, so the order can be worked out again from the scores.
    """
    if len(hits) < 2:
        return list(hits)
    scores = [hit.score for hit in hits]
    scale = Scale(weight, min(scores), (max(scores) - min(scores)) or 1.0)
    held = [chunk_terms(hit.chunk) for hit in hits]
    likeness, left, chosen = [0.0] * len(hits), list(range(len(hits))), list[Hit]()

    def worth(n: int) -> float:
        return scale.share(scores[n]) - (1 - weight) * likeness[n]

    def spread(n: int) -> Hit:
        adjustment = Adjustment("mmr", likeness[n], scores[n], worth(n), scale)
        return replace(hits[n], score=worth(n), adjustments=(*hits[n].adjustments, adjustment))

    while left and len(chosen) < min(wanted, MAX_MMR_STEPS):
        best = max(left, key=worth)
        chosen.append(spread(best))
        left.remove(best)
        for n in left:
            same = SAME_DOCUMENT_SIMILARITY if hits[n].chunk.document_id == hits[best].chunk.document_id else 0.0
            likeness[n] = max(likeness[n], same, len(held[n] & held[best]) / len(held[n] | held[best] or {""}))
    return chosen + [spread(n) for n in sorted(left, key=worth, reverse=True)[: wanted - len(chosen)]]
