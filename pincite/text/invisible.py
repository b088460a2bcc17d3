"""Invisible characters: detection, and removal from the text that a model reads.

Joiners stay where a script or an emoji needs them, variation selectors where they have an effect. Stored, shown and
cited text keeps every character; only prompts and answers lose them.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Literal

Trick = Literal[
    "tag characters", "direction overrides", "zero-width characters", "variation selectors", "mixed alphabets"
]

_TAGS = "\U000e0000-\U000e007f"
_OVERRIDES = "\u202a-\u202e\u2066-\u2069"
_NEVER = (
    f"{_TAGS}{_OVERRIDES}\u200b\u2060-\u2064\ufeff\u034f\u180e\u3164\uffa0\ufff9-\ufffb\x00-\x08\x0b\x0c\x0e-\x1f\x7f"
)
_SOMETIMES = "\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef"
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{2,6}\U000e007f")
"""A black flag with a region: the only valid use of tag characters."""
_HIDDEN = re.compile(f"{_FLAG.pattern}|[{_NEVER}{_SOMETIMES}\u00ad]")
_ALWAYS = str.maketrans(
    dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0x2060, 0x2065), 0x200B, 0xFEFF])
)
_WORD = re.compile(r"[^\W\d_]{3,}")
_LATIN = re.compile("[A-Za-z]")
_LOOK_LATIN = re.compile("[\u0370-\u03ff\u0400-\u052f]")
_UNITS = re.compile("[\u00b5\u03bc\u03a9\u03c0\u0394\u03b1-\u03b4\u03bb\u03c3]")
"""Greek letters that ordinary words mix with Latin ones: µm, kΩ, Δx."""


def visible(text: str) -> str:
    """The text without invisible characters, for a model."""
    return _HIDDEN.sub(lambda found: found[0] if _belongs(text, found) else "", text)


def unmarked(text: str) -> str:
    """The text without characters that no script needs; it works on any part of a stream."""
    return text if text.isascii() else text.translate(_ALWAYS)


def tricks(text: str) -> tuple[Trick, ...]:
    """The tricks in a text that hide content from a reader."""
    return () if text.isascii() else tuple(dict.fromkeys(_tricks(text)))


def _tricks(text: str) -> Iterator[Trick]:
    for found in _HIDDEN.finditer(text):
        char = found[0]
        if _belongs(text, found) or char in "\u00ad\x7f" or char < " ":
            continue
        if "\U000e0000" <= char <= "\U000e007f":
            yield "tag characters"
        elif char in "\u202d\u202e":
            yield "direction overrides"
        elif "\ufe00" <= char <= "\ufe0f" or char >= "\U000e0100":
            yield "variation selectors"
        elif _inside_a_word(text, found):
            yield "zero-width characters"
    for word in _WORD.findall(text):
        if not word.isascii() and _LATIN.search(word) and _LOOK_LATIN.search(_UNITS.sub("", word)):
            yield "mixed alphabets"


def _belongs(text: str, found: re.Match[str]) -> bool:
    """Whether a hidden character has an effect at its position."""
    char, before = found[0], text[found.start() - 1 : found.start()]
    if len(char) > 1:
        return True
    if not before or (char not in "\u200c\u200d" and not ("\ufe00" <= char <= "\ufe0f" or char >= "\U000e0100")):
        return False
    kind = unicodedata.category(before)
    if char in "\u200c\u200d":
        return (ord(before) >= 0x590 and kind[0] in "LM") or kind in ("So", "Sk")
    if char >= "\U000e0100":
        return "\u2e80" <= before <= "\ufaff" or (before >= "\U00020000" and before < "\U000e0000")
    return before in "#*0123456789" or (ord(before) >= 0xA9 and kind[0] in "SLPN" and not before.isspace())


def _inside_a_word(text: str, found: re.Match[str]) -> bool:
    """Whether a hidden character is between letters that need none, or next to another hidden character."""
    around = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
    return all(char.isalpha() and ord(char) < 0x590 for char in around) or any(map(_HIDDEN.match, around))
