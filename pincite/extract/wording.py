"""A passage as it is said: without its markup, on one line."""

import re

_MARKS = re.compile(r"\*\*|__|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])|`")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_QUOTED = re.compile(r"\n[ \t>]*")
_FOOTNOTE = re.compile(r"\[\d{1,3}\]")


def plain(text: str) -> str:
    """The words of a passage: links by their names, no emphasis, no marks of footnotes, no line ends."""
    text = _LINK.sub(r"\1", _FOOTNOTE.sub("", _QUOTED.sub(" ", text)))
    return " ".join(_MARKS.sub("", text).split())
