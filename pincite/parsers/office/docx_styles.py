"""Determines which styles of a Word document are headings, titles, code or lists: by name, outline level or parent
style."""

import re
from dataclasses import dataclass, replace
from typing import Literal

from pincite.parsers.office.package import Element, attribute, child, children, parse_int, value

Role = Literal["body", "heading", "title", "code", "contents"]

_HEADING = re.compile(r"heading ?([1-9])", re.IGNORECASE)
_CODE = re.compile(
    r"(?:source ?)?code(?: ?block)?|(?:html )?preformatted(?: text)?|listing|macro(?: ?text)?|verbatim|"
    r"quell(?:code|text)",
    re.IGNORECASE,
)
_CONTENTS = re.compile(r"toc ?\d", re.IGNORECASE)
_LISTED = re.compile(r"list (?:bullet|number) ([2-9])", re.IGNORECASE)
_BODY_LEVEL = 9
_MAX_ANCESTORS = 20
"""Maximum number of parent styles; limits a circular definition."""


@dataclass(frozen=True, slots=True)
class Style:
    """The role of a paragraph of this style; `numbering` is the id of its list, and `depth` its level there."""

    role: Role = "body"
    level: int = 0
    numbering: str = ""
    depth: int | None = None


class Styles:
    """The styles of a document, by id."""

    def __init__(self, root: Element | None) -> None:
        self._elements = {attribute(style, "styleId"): style for style in children(root, "style")}
        self._known: dict[str, Style] = {}
        self.default = next(
            (
                attribute(style, "styleId")
                for style in self._elements.values()
                if attribute(style, "type") == "paragraph" and attribute(style, "default") in ("1", "true", "on")
            ),
            "",
        )

    def of(self, paragraph: Element) -> Style:
        """The style of a paragraph, with the outline level set on the paragraph itself."""
        properties = child(paragraph, "pPr")
        style = self.named(value(properties, "pStyle") or self.default)
        own = parse_int(value(properties, "outlineLvl"), _BODY_LEVEL)
        return _with_outline_level(style, own) if style.role == "body" else style

    def named(self, name: str) -> Style:
        """The style with this id; one that the file does not define is judged by its id."""
        if name not in self._known:
            self._known[name] = self._resolve(name)
        return self._known[name]

    def linked_numbering(self, name: str) -> str:
        """The numbering id of a numbering style."""
        return value(child(self._elements.get(name), "pPr"), "numPr", "numId")

    def _resolve(self, name: str) -> Style:
        style, found = Style(), False
        numbering, depth = "", None
        for element in self._ancestors(name):
            called = value(element, "name")
            if not found:
                style, found = _by_name(called, value(element, "pPr", "outlineLvl"))
            level = value(element, "pPr", "numPr", "ilvl")
            numbering = numbering or value(element, "pPr", "numPr", "numId")
            if depth is None:
                listed = _LISTED.fullmatch(called)
                depth = int(listed[1]) - 1 if listed else parse_int(level) if level else None
        if name not in self._elements:
            style, _ = _by_name(name, "")
        return replace(style, numbering=numbering, depth=depth)

    def _ancestors(self, name: str) -> list[Element]:
        found: list[Element] = []
        while name in self._elements and len(found) < _MAX_ANCESTORS:
            found.append(self._elements[name])
            name = value(found[-1], "basedOn")
        return found


def _by_name(name: str, outline: str) -> tuple[Style, bool]:
    """The style that a name and an outline level suggest, and whether they suggest any."""
    if heading := _HEADING.fullmatch(name):
        return Style("heading", int(heading[1])), True
    if name.lower() == "title":
        return Style("title", 1), True
    if name.lower() == "subtitle":
        return Style(), True  # never a heading, although often based on one
    if _CONTENTS.fullmatch(name):
        return Style("contents"), True
    if _CODE.fullmatch(name):
        return Style("code"), True
    if outline:
        return _with_outline_level(Style(), parse_int(outline, _BODY_LEVEL)), True
    return Style(), False


def _with_outline_level(style: Style, outline: int) -> Style:
    return replace(style, role="heading", level=outline + 1) if outline < _BODY_LEVEL else style


def is_on(properties: Element | None, name: str) -> bool:
    """Whether an on/off property, such as hidden text, is set."""
    found = child(properties, name)
    return found is not None and attribute(found, "val", "true") not in ("0", "false", "off")
