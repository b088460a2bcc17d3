"""The text of an agent's last turn without what is no answer: sentences about searching, and repeated sentences."""

import re
from bisect import bisect_right

from pincite.text import lang
from pincite.text.sentences import fold, sentences
from pincite.text.terms import question_language

MIN_REPEATED_WORDS = 4
"""A shorter sentence may stand twice."""

_MARK = re.compile(r"\[[^\[\]\n]{1,200}\]")
_TABLE_ROW = re.compile(r"^[ \t]*\|[^\n]*$", re.MULTILINE)
_FENCED = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_EMPTY_ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]*$\n?", re.MULTILINE)


def final_text(text: str) -> str:
    """The text without sentences about searching and without repeated sentences; empty where nothing else is said.

    Fenced code and tables stay as they are. A sentence with a citation, and one that says that the sources do not
    answer, is kept.
    """
    blank = _MARK.sub(lambda mark: " " * len(mark[0]), text)
    starts = [start for start, _ in sentences(blank)]
    fixed = [match.span() for pattern in (_FENCED, _TABLE_ROW) for match in pattern.finditer(text)]
    said: set[str] = set()
    dropped: list[tuple[int, int]] = []
    for start, end in sentences(blank):
        if any(first <= start < last for first, last in fixed):
            continue
        following = bisect_right(starts, start)
        line_end = text.find("\n", end)
        stop = min(starts[following] if following < len(starts) else len(text), len(text) if line_end < 0 else line_end)
        key = " ".join(fold(blank[start:end]).split())
        repeated = key in said and len(key.split()) >= MIN_REPEATED_WORDS
        said.add(key)
        if repeated or (not _MARK.search(text, start, stop) and is_about_searching(blank[start:end])):
            dropped.append((start, stop))
    for start, stop in reversed(dropped):
        text = text[:start].rstrip(" \t") + (" " if text[stop : stop + 1].strip() else "") + text[stop:]
    if dropped:
        text = re.sub(r"\n{3,}", "\n\n", _EMPTY_ITEM.sub("", text))
    return text.strip()


def is_about_searching(sentence: str) -> bool:
    """Whether a sentence says what the model searches for, and not what it found."""
    language = question_language(sentence)
    talk, refusal = (
        lang.regex(f"model_output.{key}", language, flags=re.IGNORECASE) for key in ("searching", "refusal")
    )
    return bool(talk.search(sentence)) and not refusal.search(sentence)
