"""The rest of a sentence's paragraph: where it is short it is quoted, too, as it often corrects or completes it."""

import re

from pincite.extractive.whole.outline import LOG_LINE
from pincite.text import lang
from pincite.text.sentences import Span, sentences

MAX_PARAGRAPH_CHARS = 320
"""Length up to which a paragraph is quoted whole."""
MAX_CORRECTION_SENTENCES = 2
"""Sentences after one that tells an earlier state, in a longer paragraph."""
MIN_LINE_CHARS = 50
"""Mean length of the lines of wrapped text; shorter lines stand for themselves."""
_BREAK = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*+•>#|]|\d{1,3}[.)][ \t]|```|~~~))|(?<=:)\n|(?<=\|)\n")


def with_paragraph(text: str, span: Span, language: str, *, back: bool = False) -> Span:
    """The span of a sentence with the rest of its paragraph if that is short; else with what corrects it.

    `back` includes the sentences before it.
    """
    first, end = _paragraph(text, span)
    start = first if back else span[0]
    if end - start <= MAX_PARAGRAPH_CHARS and not _has_lines(text[first:end]):
        return start, end
    if not may_be_corrected(text[span[0] : span[1]], language):
        return span
    following = [last for first, last in sentences(text[span[1] : end])][:MAX_CORRECTION_SENTENCES]
    return span[0], span[1] + following[-1] if following else span[1]


def tells_earlier_state(sentence: str, language: str) -> bool:
    """Whether a sentence tells what was planned or valid before: `First idea was 21 June`."""
    return lang.regex("extractive.earlier_state", language, r"\b%s\b", re.IGNORECASE).search(sentence) is not None


def may_be_corrected(sentence: str, language: str) -> bool:
    """Whether what holds now may follow a sentence: it tells an earlier state, or revokes something."""
    revoked = lang.regex("extractive.revoked", language, r"\b%s\b", re.IGNORECASE).search(sentence)
    return tells_earlier_state(sentence, language) or revoked is not None


def _has_lines(paragraph: str) -> bool:
    """Whether a paragraph is a block of lines, such as code, a log or an address, rather than sentences."""
    lines = paragraph.split("\n")
    if len(lines) > 1 and all(map(LOG_LINE.match, lines)):
        return True
    return len(lines) > 2 and sum(map(len, lines)) / len(lines) < MIN_LINE_CHARS


def _paragraph(text: str, span: Span) -> Span:
    """The span between the breaks around a sentence, without white space, marks of items and questions before it."""
    start = max((match.end() for match in _BREAK.finditer(text, 0, span[0] + 1) if match.end() <= span[0]), default=0)
    while text.startswith("#", start) and 0 <= (line_end := text.find("\n", start)) < span[0]:
        start = line_end + 1
    after = _BREAK.search(text, span[1])
    end = after.start() if after else len(text)
    inner = text[start:end]
    for first, last in sentences(inner):
        if start + last <= span[0] and inner[first:last].rstrip("*_ \n").endswith("?"):
            start, inner = start + last, inner[last:]
            break
    marker = re.match(r"\s*(?:[-*+•>]|\d{1,3}[.)])?\s*", text[start : span[0]])
    start += marker.end() if marker else 0
    return min(start, span[0]), max(start + len(text[start:end].rstrip()), span[1])
