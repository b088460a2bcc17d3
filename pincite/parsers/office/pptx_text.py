"""Text of a slide's shapes: paragraphs with their bullets and numbers, links kept."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pincite.parsers.markdown_out.writer import BULLET, Items, escaped, link, one_line
from pincite.parsers.office.docx_numbering import number
from pincite.parsers.office.formula import formula
from pincite.parsers.office.package import Element, attribute, child, children, chosen, local, whole

_BULLETS = ("buNone", "buChar", "buAutoNum", "buBlip")
_KINDS = {"alphaLc": "lowerLetter", "alphaUc": "upperLetter", "romanLc": "lowerRoman", "romanUc": "upperRoman"}
_DEEPEST = 9


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of a shape: its words, and how it is listed; `bullet` is empty where it is not."""

    text: str
    level: int = 0
    bullet: str = ""


def paragraphs(body: Element | None, links: Mapping[str, str], styles: Sequence[Element] = ()) -> list[Paragraph]:
    """The paragraphs of a text body that hold words; `styles` say what is listed where the paragraph does not."""
    found: list[Paragraph] = []
    counts: dict[int, int] = {}
    for element in children(body, "p"):
        text = words(element, links)
        if not text.strip():
            continue
        level = _level(element)
        sign = _sign(element, level, styles)
        counts = {depth: count for depth, count in counts.items() if depth < level + (sign is not None)}
        if sign is not None and local(sign) == "buAutoNum":
            counts[level] = counts.get(level, _start(sign) - 1) + 1
            found.append(Paragraph(text, level, _numbered(counts[level], attribute(sign, "type"))))
        else:
            listed = sign is not None and local(sign) != "buNone"
            counts.pop(level, None)
            found.append(Paragraph(text, level, BULLET if listed else ""))
    return found


def words(element: Element, links: Mapping[str, str]) -> str:
    """The words of one paragraph, or of whatever holds runs."""
    return "".join(_words(element, links))


def _words(element: Element, links: Mapping[str, str]) -> Iterator[str]:
    for one in element:
        name = local(one)
        if name in ("r", "fld"):
            text = "".join(str(part.text or "") for part in children(one, "t")).replace("\v", "\n")
            clicked = child(one, "rPr", "hlinkClick")
            yield text if clicked is None else link(text, links.get(attribute(clicked, "id"), ""))
        elif name == "br":
            yield "\n"
        elif name == "m":
            yield formula(one)
        elif name == "AlternateContent" and (choice := chosen(one)) is not None:
            yield from _words(choice, links)


def written(found: Sequence[Paragraph]) -> Iterator[str]:
    """Paragraphs as blocks of Markdown: listed ones that follow each other are one block."""
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


def plain(body: Element | None, links: Mapping[str, str]) -> str:
    """A text body on one line."""
    return one_line(" ".join(paragraph.text for paragraph in paragraphs(body, links)))


def _level(element: Element) -> int:
    properties = child(element, "pPr")
    return 0 if properties is None else min(whole(attribute(properties, "lvl")), _DEEPEST - 1)


def _sign(element: Element, level: int, styles: Sequence[Element]) -> Element | None:
    """The bullet of a paragraph: its own, or that of the nearest style that has one for its level."""
    named = [child(style, f"lvl{level + 1}pPr") for style in styles]
    for properties in [child(element, "pPr"), *named]:
        for name in _BULLETS:
            if (sign := child(properties, name)) is not None:
                return sign
    return None


def _start(sign: Element) -> int:
    return whole(attribute(sign, "startAt"), 1)


def _numbered(count: int, kind: str) -> str:
    """A number as its scheme has it: `arabicPeriod` is `1.`, `alphaLcParenBoth` is `(a)`."""
    shown = number(count, next((_KINDS[name] for name in _KINDS if kind.startswith(name)), "decimal"))
    if kind.endswith("ParenBoth"):
        return f"({shown})"
    return f"{shown})" if kind.endswith("ParenR") else f"{shown}."
