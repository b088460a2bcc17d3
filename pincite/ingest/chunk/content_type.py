"""What a passage is for, where that is not to be read: glossary, contents, image credits, questions made up beforehand.

Such passages hold many of a question's words and seldom its answer, so a search puts them further down. They are told by
heading and shape, German and English; in doubt a passage stays what its blocks are. A heading alone is enough where
nothing else is ever under it; where it has other meanings (`Contents`, `Credits`), and where there is none, the lines
must look the part.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from pincite.core.documents.document import ContentType

MOST = 0.8
"""So many lines must look the part where no heading says so; under one that may say so, half of them."""
FEW = 4
"""Fewer lines than this look like nothing."""


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip() for name in text.split(","))


GLOSSARY = _names(
    "glossary, glossary of terms, abbreviations, list of abbreviations, acronyms, abbreviations and acronyms, terminology, "
    "glossar, begriffe, begriffserklärungen, fachbegriffe, abkürzungen, abkürzungsverzeichnis, glossar und abkürzungen"
)
CONTENTS = _names(
    "table of contents, toc, list of figures, list of tables, "
    "inhaltsverzeichnis, inhaltsübersicht, abbildungsverzeichnis, tabellenverzeichnis"
)
PERHAPS_CONTENTS = _names("contents, on this page, in this article, inhalt, auf dieser seite")
"""What lies in a box stands under `Contents` as well."""
IMAGE_CREDITS = _names(
    "image credits, photo credits, picture credits, illustration credits, photography credits, image sources, "
    "bildnachweis, bildnachweise, bildquellen, bildquellenverzeichnis, abbildungsnachweis, fotonachweis, fotonachweise"
)
CREDITS = _names("credits, acknowledgements, impressum, nachweise, copyright")
QUESTIONS = _names(
    "hypothetical questions, possible questions, questions this document answers, questions this section answers, "
    "questions this passage answers, hypothetische fragen, mögliche fragen, fragen, die dieser text beantwortet"
)

_NUMBERING = re.compile(r"^(?:\d+(?:\.\d+)*[.)]?|[IVXLC]+\.|[A-Z][.)]|anhang \w+:?|appendix \w+:?)\s+", re.IGNORECASE)
_BULLET = re.compile(r"^(?:[-*+•]|\d{1,3}[.)])\s+")
_PAGE = re.compile(
    r"(?:(?<![.·…_])(?<![.·…_]\s)(?:\s?[.·…_]){2,}+|(?<!\s)(?:\s{2,}+|\t))\s*+(?:(?:p|pp|s)\.\s?)?(?P<page>\d{1,4}|[ivxlc]{1,6})$"
)
_ANCHOR = re.compile(r"\[[^\[\]]+\]\(#[^()\s]*\)")
_ENTRY = re.compile(
    r"^(?:\*\*|__|`)?(?P<term>[^\s:|.?!][^:|.?!]{0,48}?)(?:\*\*|__|`)?\s*(?::(?=[\s*_])|[–—]|\s-)\s*(?:\*\*|__)?\s*(?=\S.{8})"
)
_PICTURE = re.compile(
    r"\b(?:photos?|photographs?|photograph(?:er|y)|images?|pictures?|illustrations?|cover|fig(?:ure|\.)?|"
    r"fotos?|fotograf\w*|bild(?:er)?|abbildung(?:en)?|abb\.|titelbild|grafik(?:en)?)(?!\w)|"
    r"\b(?:shutterstock|getty ?images|istock|unsplash|pexels|adobe ?stock|alamy|wikimedia|picture alliance|dpa)\b",
    re.IGNORECASE,
)
_CREDIT = re.compile(
    r"©|\(c\)|\bcc[ -]by\b|\bpublic domain\b|\bgemeinfrei\b|\bcourtesy of\b|"
    r"^(?:photos?|images?|pictures?|illustration|fotos?|bilder|bild|grafik)(?: by|s? credit|nachweis|quelle)?\s*(?:\d+\s*)?:|"
    r"\b(?:shutterstock|getty ?images|istock|unsplash|pexels|adobe ?stock|alamy|wikimedia commons|picture alliance)\b",
    re.IGNORECASE,
)
_LONGEST_CREDIT = 200
_PAGE_ENDS = "0123456789ivxlc"
_LONGEST_PAGE = 200
"""Characters at the end of a line in which its page is looked for: a file may be one line."""


def label(text: str, heading_path: Sequence[str], kind: ContentType) -> ContentType:
    """The label of a passage of this kind; the kind itself where none fits."""
    if kind == "code":
        return kind
    lines = [line for line in (line.strip() for line in text.splitlines()) if line]
    above = [_bare(heading) for heading in heading_path]
    own = bool(lines) and (lines[0].startswith("#") or _bare(lines[0]) in above[-1:])
    first = _bare(lines[0]) if lines else ""
    body = lines[1:] if own or first in _ALL else lines
    said = {*above, first} if first in _ALL else set(above)
    return next((name for name, fits in _LABELS.items() if fits(above, said, body)), kind)


def _bare(heading: str) -> str:
    """A heading as it is looked up: without marks, numbering and what ends it."""
    plain = re.sub(r"[#*_`]+", "", heading).strip()
    return _NUMBERING.sub("", plain).strip().rstrip(":").casefold()


def _is_question(above: Sequence[str], said: set[str], lines: Sequence[str]) -> bool:
    return bool(said & QUESTIONS) and bool(lines) and all(line.rstrip("*_ ").endswith("?") for line in lines)


def _is_contents(above: Sequence[str], said: set[str], lines: Sequence[str]) -> bool:
    pages = [match for line in lines if (match := _page(line))]
    linked = sum(_is_link(line) for line in lines)
    if said & CONTENTS:
        return linked + len(pages) + sum(_is_title(line) for line in lines) >= max(1, len(lines) * MOST)
    if said & PERHAPS_CONTENTS:
        return linked + len(pages) >= max(1, len(lines) / 2)
    if len(lines) < FEW:
        return False
    return linked >= len(lines) * MOST or (len(pages) >= len(lines) * MOST and _rising(pages))


def _page(line: str) -> re.Match[str] | None:
    """The page at the end of a line, where there is one."""
    end = line.strip("|* ")[-_LONGEST_PAGE:]
    return _PAGE.search(end) if end[-1:] in _PAGE_ENDS else None


def _is_link(line: str) -> bool:
    """An entry that is nothing but a link to a heading of the same page."""
    return "](#" in line and bool(_ANCHOR.search(line)) and not _ANCHOR.sub("", _BULLET.sub("", line)).strip(" -–·,*|")


def _is_title(line: str) -> bool:
    """A line that could be a heading: short, and no sentence."""
    entry = _BULLET.sub("", line)
    return len(entry) <= 80 and entry[-1:] not in ".!?:;," and not entry.startswith("|")


def _rising(pages: Sequence[re.Match[str]]) -> bool:
    """Whether page numbers go up, as prices and scores do not."""
    numbers = [int(match["page"]) for match in pages if match["page"].isdigit()]
    return len(numbers) >= FEW and numbers[0] < numbers[-1] and all(a <= b for a, b in pairwise(numbers))


def _is_glossary(above: Sequence[str], said: set[str], lines: Sequence[str]) -> bool:
    if set(above) & GLOSSARY:
        return True
    entries = [match for line in lines if (match := _ENTRY.match(_BULLET.sub("", line.strip("| "))))]
    if said & GLOSSARY:
        return bool(lines) and len(entries) >= len(lines) / 2
    if len(lines) <= FEW or len(entries) < len(lines) * MOST:
        return False
    terms = [match["term"].strip(" *_`").casefold() for match in entries]
    return all(a < b for a, b in pairwise(terms))  # speakers, steps and facts do not stand in the order of the alphabet


def _is_image_credits(above: Sequence[str], said: set[str], lines: Sequence[str]) -> bool:
    if set(above[-1:]) & IMAGE_CREDITS:
        return True
    credits = [line for line in lines if len(line) <= _LONGEST_CREDIT and _CREDIT.search(line)]
    pictured = sum(bool(_PICTURE.search(line)) for line in credits)
    share = MOST / 2 if said & (CREDITS | IMAGE_CREDITS) else MOST
    return len(credits) >= max(2, len(lines) * share) and pictured >= len(credits) / 2


_ALL = GLOSSARY | CONTENTS | PERHAPS_CONTENTS | IMAGE_CREDITS | CREDITS | QUESTIONS
_LABELS: Mapping[ContentType, Callable[[Sequence[str], set[str], Sequence[str]], bool]] = {
    "hypothetical_question": _is_question,
    "contents": _is_contents,
    "image_credits": _is_image_credits,
    "glossary": _is_glossary,
}
"""In the order they are tried."""
