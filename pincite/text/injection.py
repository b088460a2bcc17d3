"""Prompt injection: wordings that give orders to the model, and characters that hide text from a reader.

These patterns are a hint, not a defence: other wordings are not found. The link policy of answers
(`query/generate/link_policy.py`) and the permissions of the user protect an answer.
"""

import re
from collections.abc import Mapping
from functools import cache

from pincite.text import lang
from pincite.text.invisible import Trick, tricks, visible
from pincite.text.sentences import fold

MAX_TEXT_CHARS = 100_000
"""Characters of a text that are examined."""

_WORDINGS: Mapping[str, str] = {
    "forget_instructions": "asks to forget instructions",
    "new_role": "gives the model another role",
    "new_task": "sets a new task",
    "asks_for_prompt": "asks for the model's instructions",
    "speaks_as_system": "speaks as the system",
    "says_one_thing": "tells to say only one thing",
    "carries_text_away": "asks to carry text away",
}
"""What each group of patterns in the language files finds, as a warning says it."""


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    """The patterns of all languages by warning; they match folded text on one line with single spaces."""
    found = {}
    for key, warning in _WORDINGS.items():
        every = "|".join(one for language in lang.LANGUAGES for one in lang.patterns(f"injection.{key}", language))
        found[warning] = re.compile(rf"(?<!\w)(?:{every})".replace(r"\s+", " ").replace(r"\s*", " ?"))
    return found


_TRICK_WARNINGS: Mapping[Trick, str] = {
    "tag characters": "holds text in characters that nobody sees",
    "variation selectors": "holds text in characters that nobody sees",
    "zero-width characters": "has characters of no width inside words",
    "direction overrides": "shows letters in another order than they are written",
    "mixed alphabets": "mixes letters of several alphabets in one word",
}


def orders(text: str) -> tuple[str, ...]:
    """Warnings about wordings of a text that give orders to a model."""
    line = " ".join(fold(visible(text[:MAX_TEXT_CHARS])).split())
    return tuple(name for name, pattern in _patterns().items() if pattern.search(line))


def oddities(text: str) -> tuple[str, ...]:
    """Warnings about characters that make a text read otherwise than it looks."""
    return tuple(dict.fromkeys(_TRICK_WARNINGS[trick] for trick in tricks(text[:MAX_TEXT_CHARS])))


def notices(text: str) -> tuple[str, ...]:
    """All warnings about a text."""
    return (*orders(text), *oddities(text))
