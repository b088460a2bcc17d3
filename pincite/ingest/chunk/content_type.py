"""Detects passages that are not running text: glossary, table of contents, image credits, hypothetical questions.

Such passages hold many words of a question and seldom its answer, so search ranks them lower. They are detected by
heading and shape, in German and English; in doubt a passage keeps the content type of its blocks. A heading alone
decides where it has only one meaning. Where it is ambiguous (`Contents`, `Credits`) or missing, the lines must have the
shape, too.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from pincite.core.documents.document import ContentType

MIN_LINE_SHARE = 0.8
"""Share of the lines that must have the shape where no heading decides; under an ambiguous heading, half of them."""
MIN_LINES = 4
"""Minimum number of lines from which a shape is recognized without a heading."""


def _headings(text: str) -> frozenset[str]:
    return frozenset(name.strip() for name in text.split(","))


GLOSSARY = _headings(
    "glossary, glossary of terms, abbreviations, list of abbreviations, acronyms, abbreviations and acronyms, "
    "terminology, "
    "glossar, begriffe, begriffserklärungen, fachbegriffe, abkürzungen, abkürzungsverzeichnis, glossar und abkürzungen"
)
CONTENTS = _headings(
    "table of contents, toc, list of figures, list of tables, "
    "inhaltsverzeichnis, inhaltsübersicht, abbildungsverzeichnis, tabellenverzeichnis"
)
POSSIBLE_CONTENTS = _headings("contents, on this page, in this article, inhalt, auf dieser seite")
"""Ambiguous headings: `Contents` may also be the packing list of a box."""
IMAGE_CREDITS = _headings(
    "image credits, photo credits, picture credits, illustration credits, photography credits, image sources, "
    "bildnachweis, bildnachweise, bildquellen, bildquellenverzeichnis, abbildungsnachweis, fotonachweis, fotonachweise"
)
CREDITS = _headings("credits, acknowledgements, impressum, nachweise, copyright")
QUESTIONS = _headings(
    "hypothetical questions, possible questions, questions this document answers, questions this section answers, "
    "questions this passage answers, hypothetische fragen, mögliche fragen, fragen, die dieser text beantwortet"
)

_NUMBERING = re.compile(r"^(?:\d+(?:\.\d+)*[.)]?|[IVXLC]+\.|[A-Z][.)]|anhang \w+:?|appendix \w+:?)\s+", re.IGNORECASE)
_BULLET = re.compile(r"^(?:[-*+•]|\d{1,3}[.)])\s+")
_PAGE = re.compile(
    r"(?:(?<![.·…_])(?<![.·…_]\s)(?:\s?[.·…_]){2,}+|(?<!\s)(?:\s{2,}+|\t))\s*+"
    r"(?:(?:p|pp|s)\.\s?)?(?P<page>\d{1,4}|[ivxlc]{1,6})$"
)
_NUMBERED = re.compile(r"\d+(?:\.\d+)*[.)]?\s\S.*\s(?P<page>\d{1,4})")
"""A numbered title with its page: `2. Weather 5`."""
_ANCHOR = re.compile(r"\[[^\[\]]+\]\(#[^()\s]*\)")
_ENTRY = re.compile(
    r"^(?:\*\*|__|`)?(?P<term>[^\s:|.?!][^:|.?!]{0,48}?)(?:\*\*|__|`)?"
    r"\s*(?::(?=[\s*_])|[–—]|\s-)\s*(?:\*\*|__)?\s*(?=\S.{8})"
)
_PICTURE = re.compile(
    r"\b(?:photos?|photographs?|photograph(?:er|y)|images?|pictures?|illustrations?|cover|fig(?:ure|\.)?|"
    r"fotos?|fotograf\w*|bild(?:er)?|abbildung(?:en)?|abb\.|titelbild|grafik(?:en)?)(?!\w)|"
    r"\b(?:shutterstock|getty ?images|istock|unsplash|pexels|adobe ?stock|alamy|wikimedia|picture alliance|dpa)\b",
    re.IGNORECASE,
)
_CREDIT = re.compile(
    r"©|\(c\)|\bcc[ -]by\b|\bpublic domain\b|\bgemeinfrei\b|\bcourtesy of\b|"
    r"^(?:photos?|images?|pictures?|illustration|fotos?|bilder|bild|grafik)"
    r"(?: by|s? credit|nachweis|quelle)?\s*(?:\d+\s*)?:|"
    r"\b(?:shutterstock|getty ?images|istock|unsplash|pexels|adobe ?stock|alamy|wikimedia commons|picture alliance)\b",
    re.IGNORECASE,
)
_MAX_CREDIT_CHARS = 200
"""Maximum length of a line that counts as an image credit."""
_PAGE_ENDS = "0123456789ivxlc"
_PAGE_SEARCH_CHARS = 200
"""Characters at the end of a line in which its page number is searched; limits the time for a file of one line."""


def content_type_of(text: str, heading_path: Sequence[str], kind: ContentType) -> ContentType:
    """The content type of a passage; `kind`, that of its blocks, where no other is detected."""
    if kind in ("code", "code_part"):
        return kind
    lines = [line for line in (line.strip() for line in text.splitlines()) if line]
    above = [_normalized(heading) for heading in heading_path]
    while len(lines) > 1 and lines[0].startswith("#") and lines[1].startswith("#"):
        del lines[0]  # a heading without text of its own
    starts_with_heading = bool(lines) and (lines[0].startswith("#") or _normalized(lines[0]) in above[-1:])
    first = _normalized(lines[0]) if lines else ""
    body = lines[1:] if starts_with_heading or first in _ALL_HEADINGS else lines
    headings = {*above, first} if first in _ALL_HEADINGS else set(above)
    return next((name for name, fits in _LABELS.items() if fits(above, headings, body)), kind)


def _normalized(heading: str) -> str:
    """A heading without marks, numbering and final colon, in lower case."""
    plain = re.sub(r"[#*_`]+", "", heading).strip()
    return _NUMBERING.sub("", plain).strip().rstrip(":").casefold()


def _is_question(above: Sequence[str], headings: set[str], lines: Sequence[str]) -> bool:
    return bool(headings & QUESTIONS) and bool(lines) and all(line.rstrip("*_ ").endswith("?") for line in lines)


def _is_contents(above: Sequence[str], headings: set[str], lines: Sequence[str]) -> bool:
    pages = [match for line in lines if (match := _page(line))]
    linked = sum(_is_link(line) for line in lines)
    if headings & CONTENTS:
        return linked + len(pages) + sum(_is_title(line) for line in lines) >= max(1, len(lines) * MIN_LINE_SHARE)
    if headings & POSSIBLE_CONTENTS:
        return linked + len(pages) >= max(1, len(lines) / 2) or _is_numbered(lines)
    if len(lines) < MIN_LINES:
        return False
    return linked >= len(lines) * MIN_LINE_SHARE or (len(pages) >= len(lines) * MIN_LINE_SHARE and _is_rising(pages))


def _page(line: str) -> re.Match[str] | None:
    """The page number at the end of a line; None where there is none."""
    end = line.strip("|* ")[-_PAGE_SEARCH_CHARS:]
    return _PAGE.search(end) if end[-1:] in _PAGE_ENDS else None


def _is_numbered(lines: Sequence[str]) -> bool:
    """Whether every line is a numbered title, and their pages rise."""
    pages = [int(match["page"]) for line in lines if (match := _NUMBERED.fullmatch(line))]
    return len(pages) == len(lines) > 2 and all(a < b for a, b in pairwise(pages))


def _is_link(line: str) -> bool:
    """Whether a line is only a link to a heading of the same page, and perhaps the number of a page."""
    around = _ANCHOR.sub("", _BULLET.sub("", line)) if "](#" in line else line
    return around != line and bool(_ANCHOR.search(line)) and not around.strip(" -–·…._,*|0123456789")


def _is_title(line: str) -> bool:
    """Whether a line could be a heading: it is short and not a sentence."""
    entry = _BULLET.sub("", line)
    return len(entry) <= 80 and entry[-1:] not in ".!?:;," and not entry.startswith("|")


def _is_rising(pages: Sequence[re.Match[str]]) -> bool:
    """Whether the page numbers rise; prices and scores do not."""
    numbers = [int(match["page"]) for match in pages if match["page"].isdigit()]
    return len(numbers) >= MIN_LINES and numbers[0] < numbers[-1] and all(a <= b for a, b in pairwise(numbers))


def _is_glossary(above: Sequence[str], headings: set[str], lines: Sequence[str]) -> bool:
    if set(above) & GLOSSARY:
        return True
    entries = [match for line in lines if (match := _ENTRY.match(_BULLET.sub("", line.strip("| "))))]
    if headings & GLOSSARY:
        return bool(lines) and len(entries) >= len(lines) / 2
    if len(lines) <= MIN_LINES or len(entries) < len(lines) * MIN_LINE_SHARE or any(map(_BULLET.match, lines)):
        return False  # items of a list are facts, unless a heading says otherwise
    terms = [match["term"].strip(" *_`").casefold() for match in entries]
    numbered = any(term[-1:].isdigit() for term in terms)
    return not numbered and all(a < b for a, b in pairwise(terms))  # speakers, steps and facts are in another order


def _is_image_credits(above: Sequence[str], headings: set[str], lines: Sequence[str]) -> bool:
    if set(above[-1:]) & IMAGE_CREDITS:
        return True
    credits = [line for line in lines if len(line) <= _MAX_CREDIT_CHARS and _CREDIT.search(line)]
    pictured = sum(bool(_PICTURE.search(line)) for line in credits)
    share = MIN_LINE_SHARE / 2 if headings & (CREDITS | IMAGE_CREDITS) else MIN_LINE_SHARE
    return len(credits) >= max(2, len(lines) * share) and pictured >= len(credits) / 2


_ALL_HEADINGS = GLOSSARY | CONTENTS | POSSIBLE_CONTENTS | IMAGE_CREDITS | CREDITS | QUESTIONS
_LABELS: Mapping[ContentType, Callable[[Sequence[str], set[str], Sequence[str]], bool]] = {
    "hypothetical_question": _is_question,
    "contents": _is_contents,
    "image_credits": _is_image_credits,
    "glossary": _is_glossary,
}
"""Content type → its check, in the order in which they are tried."""
