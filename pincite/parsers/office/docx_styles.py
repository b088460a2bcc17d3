"""Styles of a Word document: which of them are headings, titles, code or lists, by name, outline level or descent."""

import re
from dataclasses import dataclass, replace
from typing import Literal

from pincite.parsers.office.package import Element, attribute, child, children, value, whole

Role = Literal["body", "heading", "title", "code", "contents"]

_HEADING = re.compile(r"heading ?([1-9])", re.IGNORECASE)
_CODE = re.compile(
    r"(?:source ?)?code(?: ?block)?|(?:html )?preformatted(?: text)?|listing|macro(?: ?text)?|verbatim|quell(?:code|text)",
    re.IGNORECASE,
)
_CONTENTS = re.compile(r"toc ?\d", re.IGNORECASE)
_LISTED = re.compile(r"list (?:bullet|number) ([2-9])", re.IGNORECASE)
_BODY_LEVEL = 9
_DESCENT = 20
"""Styles a style may descend from; more is a circle."""


@dataclass(frozen=True, slots=True)
class Style:
    """What a paragraph of this style is; `numbering` is the list it belongs to, and `depth` how deep in it."""

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
        """What a paragraph is, by its style and by what is set on itself."""
        properties = child(paragraph, "pPr")
        style = self.named(value(properties, "pStyle") or self.default)
        own = whole(value(properties, "outlineLvl"), _BODY_LEVEL)
        return _leveled(style, own) if style.role == "body" else style

    def named(self, name: str) -> Style:
        """The style of an id; where the file does not define it, its id is all that is known."""
        if name not in self._known:
            self._known[name] = self._resolve(name)
        return self._known[name]

    def linked_numbering(self, name: str) -> str:
        """The list that a numbering style stands for."""
        return value(child(self._elements.get(name), "pPr"), "numPr", "numId")

    def _resolve(self, name: str) -> Style:
        style, found = Style(), False
        numbering, depth = "", None
        for element in self._descent(name):
            called = value(element, "name")
            if not found:
                style, found = _by_name(called, value(element, "pPr", "outlineLvl"))
            level = value(element, "pPr", "numPr", "ilvl")
            numbering = numbering or value(element, "pPr", "numPr", "numId")
            if depth is None:
                listed = _LISTED.fullmatch(called)
                depth = int(listed[1]) - 1 if listed else whole(level) if level else None
        if name not in self._elements:
            style, _ = _by_name(name, "")
        return replace(style, numbering=numbering, depth=depth)

    def _descent(self, name: str) -> list[Element]:
        found: list[Element] = []
        while name in self._elements and len(found) < _DESCENT:
            found.append(self._elements[name])
            name = value(found[-1], "basedOn")
        return found


def _by_name(name: str, outline: str) -> tuple[Style, bool]:
    """What a name and an outline level say, and whether they say anything."""
    if heading := _HEADING.fullmatch(name):
        return Style("heading", int(heading[1])), True
    if name.lower() == "title":
        return Style("title", 1), True
    if name.lower() == "subtitle":
        return Style(), True  # often based on a heading or with an outline level, and never one
    if _CONTENTS.fullmatch(name):
        return Style("contents"), True
    if _CODE.fullmatch(name):
        return Style("code"), True
    if outline:
        return _leveled(Style(), whole(outline, _BODY_LEVEL)), True
    return Style(), False


def _leveled(style: Style, outline: int) -> Style:
    return replace(style, role="heading", level=outline + 1) if outline < _BODY_LEVEL else style


def is_on(properties: Element | None, name: str) -> bool:
    """Whether a property that is there or not, such as hidden text, is set."""
    found = child(properties, name)
    return found is not None and attribute(found, "val", "true") not in ("0", "false", "off")
