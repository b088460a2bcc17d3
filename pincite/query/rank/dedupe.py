"""Passages that say the same appear once: the best stands for all and names the others.

Two passages are the same where more than 95 % of their words are, counted with repeats, and what differs is neither a
figure nor a name: two contracts that differ in the sum or the party are two contracts.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from pincite.core.query.hits import Hit
from pincite.text.terms import words

SAME = 0.95
NEAR = 0.9
"""Texts whose lengths differ by more are not compared."""
LIKELY = 0.8
"""Nor are those closely that share less of what stands between blanks."""

SHORT = 100
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
        if self.text == other.text or short < NEAR * long:
            return self.text == other.text
        few, many = sorted((len(self.parts), len(other.parts)))
        if long > SHORT and (few < LIKELY * many or len(self.parts & other.parts) < LIKELY * many):
            return False
        return _same(self.text, other.text)


def _same(one: str, other: str) -> bool:
    mine, theirs = Counter(words(one)), Counter(words(other))
    shared = (mine & theirs).total()
    if shared <= SAME * max(mine.total(), theirs.total()):
        return mine == theirs
    differing = {*(mine - theirs), *(theirs - mine)}
    return not any(map(_is_figure, differing)) and not differing & (_names(one) | _names(other))


def _is_figure(word: str) -> bool:
    return any(map(str.isdigit, word))


def _names(text: str) -> set[str]:
    """Words with a capital, in lower case; the first of a sentence among them, since nothing tells them apart."""
    return {word.lower() for word in _WORD.findall(text) if word[0].isupper()}
