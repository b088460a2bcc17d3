"""Reads the text of a Word paragraph: tracked changes accepted, links kept, fields as results, notes as references."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from pincite.parsers.markdown_out.writer import link
from pincite.parsers.office.docx_styles import is_on
from pincite.parsers.office.formula import formula
from pincite.parsers.office.package import (
    Element,
    attribute,
    child,
    children,
    local_name,
    picture_text,
    selected_alternative,
    value,
)

Note = tuple[str, str]
"""The kind of a note, `footnote` or `endnote`, and its id in the file."""

WRAPPERS = frozenset("ins moveTo smartTag sdt sdtContent customXml bdo dir fldSimple ruby rubyBase oMathPara".split())
"""Elements around content that do not change it. Deleted and moved-away text is in other elements."""

_SIGNS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_SYMBOLS = {
    "F0B7": "•",
    "F0A7": "▪",
    "F0E0": "→",
    "F0E8": "➔",
    "F0FC": "✓",
    "F0FE": "☒",
    "F0A8": "☐",
    "F06F": "☐",
    "F0FB": "✗",
    "F0B0": "°",
    "F0B1": "±",
    "F0B3": "≥",
    "F0A3": "≤",
    "F0B4": "×",
    "F06D": "μ",
    "F044": "Δ",
    "F061": "α",
    "F062": "β",
    "F070": "π",
    "F0D0": "–",
}
"""Code points of the fonts Symbol and Wingdings → the characters that they show."""
_HYPERLINK = re.compile(r"\s*HYPERLINK\s+\"([^\"]+)\"", re.IGNORECASE)


@dataclass(slots=True)
class _Field:
    """An open field: its instruction and, once its result has started, the index of the result's first part."""

    instruction: str = ""
    result: int | None = None


@dataclass(slots=True)
class Line:
    """The text of a paragraph, with its references to notes and the text boxes anchored in it.

    `bold` says that some of its text is bold, `light` that some is not.
    """

    parts: list[str] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    boxes: list[Element] = field(default_factory=list)
    fields: list[_Field] = field(default_factory=list)
    bold: bool = False
    light: bool = False

    @property
    def text(self) -> str:
        """The text of all parts."""
        return "".join(self.parts)


class ParagraphReader:
    """Reads the paragraphs of one part: `links` are its addresses by id, `label` returns the label of a note."""

    def __init__(self, links: Mapping[str, str], label: Callable[[Note], str]) -> None:
        self.links = links
        self.label = label

    def line(self, paragraph: Element) -> Line:
        """Read a paragraph."""
        line = Line()
        self._children(paragraph, line)
        return line

    def _children(self, element: Element, line: Line) -> None:
        for one in element:
            name = local_name(one)
            if name == "r":
                self._run(one, line)
            elif name == "hyperlink":
                self._hyperlink(one, line)
            elif name in WRAPPERS:
                self._children(one, line)
            elif name == "oMath":
                line.parts.append(formula(one))
            elif name == "AlternateContent" and (choice := selected_alternative(one)) is not None:
                self._children(choice, line)

    def _hyperlink(self, element: Element, line: Line) -> None:
        begin = len(line.parts)
        self._children(element, line)
        address = self.links.get(attribute(element, "id"), "")
        if address and (anchor := attribute(element, "anchor")):
            address += f"#{anchor}"
        _make_link(line, begin, address)

    def _run(self, run: Element, line: Line) -> None:
        properties = child(run, "rPr")
        if is_on(properties, "vanish"):
            return
        for one in run:
            name = local_name(one)
            if name == "fldChar":
                _field_char(one, line)
            elif name == "instrText" and line.fields:
                line.fields[-1].instruction += one.text or ""
            elif not any(known.result is None for known in line.fields):
                self._content(one, name, line)
                if name == "t" and (one.text or "").strip():
                    bold = is_on(properties, "b")
                    line.bold, line.light = line.bold or bold, line.light or not bold

    def _content(self, one: Element, name: str, line: Line) -> None:
        """Add one element of a run: text, a symbol, a reference to a note, or a drawing with text."""
        if name == "t":
            line.parts.append(one.text or "")
        elif name in _SIGNS:
            line.parts.append(_SIGNS[name])
        elif name == "sym":
            line.parts.append(_symbol(attribute(one, "char").upper()))
        elif name in ("footnoteReference", "endnoteReference"):
            note = (name.removesuffix("Reference"), attribute(one, "id"))
            if label := self.label(note):
                line.notes.append(note)
                line.parts.append(f"[^{label}]")
        elif name in ("drawing", "pict", "object"):
            line.boxes += text_boxes(one)
            line.parts += [picture_text(about) for kind in ("inline", "anchor") for about in _about(one, kind)]
        elif name == "AlternateContent" and (choice := selected_alternative(one)) is not None:
            for inner in choice:
                self._content(inner, local_name(inner), line)
        elif name in WRAPPERS:
            self._children(one, line)


def _about(drawing: Element, kind: str) -> Iterator[Element]:
    return (found for frame in children(drawing, kind) if (found := child(frame, "docPr")) is not None)


def text_boxes(drawing: Element) -> Iterator[Element]:
    """The contents of the text boxes in a drawing; of alternatives, only one is used."""
    for one in drawing:
        if local_name(one) == "txbxContent":
            yield one
        elif local_name(one) == "AlternateContent":
            if (choice := selected_alternative(one)) is not None:
                yield from text_boxes(choice)
        else:
            yield from text_boxes(one)


def _field_char(element: Element, line: Line) -> None:
    kind = attribute(element, "fldCharType")
    if kind == "begin":
        line.fields.append(_Field())
        if (box := child(element, "ffData", "checkBox")) is not None:
            checked = is_on(box, "checked") or (
                child(box, "checked") is None and value(box, "default") in ("1", "true")
            )
            line.parts.append("☒" if checked else "☐")
    elif kind == "separate" and line.fields:
        line.fields[-1].result = len(line.parts)
    elif kind == "end" and line.fields:
        ended = line.fields.pop()
        address = _HYPERLINK.match(ended.instruction)
        if address and ended.result is not None:
            _make_link(line, ended.result, address[1])


def _make_link(line: Line, begin: int, address: str) -> None:
    """Turn the parts from `begin` on into a link."""
    if address and begin < len(line.parts):
        line.parts[begin:] = [link("".join(line.parts[begin:]), address)]


def _symbol(code: str) -> str:
    if code in _SYMBOLS:
        return _SYMBOLS[code]
    point = int(code, 16) if re.fullmatch(r"[0-9A-F]{1,5}", code) else 0
    # Symbol fonts use the private use area; without the font these code points mean nothing.
    return "" if point < 0x20 or 0xE000 <= point <= 0xF8FF or 0xD800 <= point <= 0xDFFF else chr(point)
