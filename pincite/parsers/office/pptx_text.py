"""Reads the text of a slide's shapes: paragraphs with bullets, numbers and links."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pincite.parsers.markdown_out.writer import BULLET, Items, escaped, link, one_line
from pincite.parsers.office.docx_numbering import format_number
from pincite.parsers.office.formula import formula
from pincite.parsers.office.package import (
    Element,
    attribute,
    child,
    children,
    local_name,
    parse_int,
    selected_alternative,
)

_BULLETS = ("buNone", "buChar", "buAutoNum", "buBlip")
_KINDS = {"alphaLc": "lowerLetter", "alphaUc": "upperLetter", "romanLc": "lowerRoman", "romanUc": "upperRoman"}
_MAX_LEVELS = 9


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of a shape: its text, level and bullet; `bullet` is empty outside of lists."""

    text: str
    level: int = 0
    bullet: str = ""


def paragraphs(body: Element | None, links: Mapping[str, str], styles: Sequence[Element] = ()) -> list[Paragraph]:
    """The paragraphs of a text body that are not empty; `styles` give the bullets that a paragraph does not set."""
    found: list[Paragraph] = []
    counts: dict[int, int] = {}
    for element in children(body, "p"):
        text = paragraph_text(element, links)
        if not text.strip():
            continue
        level = _level(element)
        sign = _bullet_element(element, level, styles)
        counts = {depth: count for depth, count in counts.items() if depth < level + (sign is not None)}
        if sign is not None and local_name(sign) == "buAutoNum":
            counts[level] = counts.get(level, _start(sign) - 1) + 1
            found.append(Paragraph(text, level, _number_marker(counts[level], attribute(sign, "type"))))
        else:
            listed = sign is not None and local_name(sign) != "buNone"
            counts.pop(level, None)
            found.append(Paragraph(text, level, BULLET if listed else ""))
    return found


def paragraph_text(element: Element, links: Mapping[str, str]) -> str:
    """The text of one paragraph."""
    return "".join(_text_parts(element, links))


def _text_parts(element: Element, links: Mapping[str, str]) -> Iterator[str]:
    for one in element:
        name = local_name(one)
        if name in ("r", "fld"):
            text = "".join(str(part.text or "") for part in children(one, "t")).replace("\v", "\n")
            clicked = child(one, "rPr", "hlinkClick")
            yield text if clicked is None else link(text, links.get(attribute(clicked, "id"), ""))
        elif name == "br":
            yield "\n"
        elif name == "m":
            yield formula(one)
        elif name == "AlternateContent" and (choice := selected_alternative(one)) is not None:
            yield from _text_parts(choice, links)


def markdown_blocks(found: Sequence[Paragraph]) -> Iterator[str]:
    """The paragraphs as blocks of Markdown; adjacent list items are one block."""
    items, block = Items(), list[str]()
    for paragraph in found:
        if paragraph.bullet:
            block.append(items.write(paragraph.text, paragraph.bullet, paragraph.level))
            continue
        if block:
            yield "\n".join(block)
        items, block = Items(), []
        yield escaped(paragraph.text)
    if block:
        yield "\n".join(block)


def plain_text(body: Element | None, links: Mapping[str, str]) -> str:
    """A text body on one line."""
    return one_line(" ".join(paragraph.text for paragraph in paragraphs(body, links)))


def _level(element: Element) -> int:
    properties = child(element, "pPr")
    return 0 if properties is None else min(parse_int(attribute(properties, "lvl")), _MAX_LEVELS - 1)


def _bullet_element(element: Element, level: int, styles: Sequence[Element]) -> Element | None:
    """The bullet element of a paragraph: its own, else that of the first style that has one for its level."""
    named = [child(style, f"lvl{level + 1}pPr") for style in styles]
    for properties in [child(element, "pPr"), *named]:
        for name in _BULLETS:
            if (sign := child(properties, name)) is not None:
                return sign
    return None


def _start(sign: Element) -> int:
    return parse_int(attribute(sign, "startAt"), 1)


def _number_marker(count: int, kind: str) -> str:
    """A number in a numbering scheme: `arabicPeriod` gives `1.`, `alphaLcParenBoth` gives `(a)`."""
    shown = format_number(count, next((_KINDS[name] for name in _KINDS if kind.startswith(name)), "decimal"))
    if kind.endswith("ParenBoth"):
        return f"({shown})"
    return f"{shown})" if kind.endswith("ParenR") else f"{shown}."
