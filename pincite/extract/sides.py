"""The things that a question compares, by its words. German and English."""

import re

from pincite.extract.asking import Asked, Word
from pincite.words import words

NEAREST = (1, 2)
"""Words of each side that say what it is: the one nearest to where they meet, or two where these are the same."""

_JOINS = re.compile(r"\s(?:and|or|versus|vs\.?|with|than|und|oder|mit|als|gegenüber|zu)\s", re.IGNORECASE)
_COMPARING = frozenset(
    "compare compared comparison difference differences differ different between versus "
    "vergleich vergleiche vergleichen unterschied unterschiede unterscheiden unterscheidet zwischen".split()
)


def sides_of(asked: Asked) -> list[list[Word]]:
    """The words that only one side has, side by side; empty where there are no two.

    The sides meet at the last word such as `and` that has words of meaning before and after it.
    """
    by_text = {word.text: word for word in asked.words if word.text not in _COMPARING}
    for join in reversed(list(_JOINS.finditer(asked.text))):
        left, right = (
            [by_text[text] for text in words(part) if text in by_text]
            for part in (asked.text[: join.start()], asked.text[join.end() :])
        )
        for nearest in NEAREST:
            one, other = left[-nearest:], right[:nearest]
            apart = [[word for word in one if word not in other], [word for word in other if word not in one]]
            if all(apart):
                return apart
    return []
