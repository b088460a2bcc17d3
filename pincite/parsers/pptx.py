"""Parses presentations: one page per slide, with its title as a heading, its text in reading order, tables, charts and
notes."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pincite.core import progress
from pincite.core.documents.document import Parsed
from pincite.core.protocols import Parser
from pincite.errors import Unreadable
from pincite.parsers.markdown_out.writer import MarkdownWriter, heading, table
from pincite.parsers.office.package import (
    Element,
    Office,
    attribute,
    child,
    children,
    links_of,
    local_name,
    picture_text,
    relation_id,
)
from pincite.parsers.office.pptx_graphics import chart_rows, chart_title, diagram_texts, table_rows
from pincite.parsers.office.pptx_shapes import Layers, Shape, shapes
from pincite.parsers.office.pptx_text import markdown_blocks, paragraphs, plain_text

MAX_SLIDES = 5_000
"""Maximum number of slides."""

_OPEN = "application/vnd.openxmlformats-officedocument.presentationml"
_HIDDEN = "(hidden slide)"
_NOTES = "Speaker notes:"


@dataclass(frozen=True, slots=True)
class Options:
    """This parser has no options."""


class Pptx:
    """Parses presentations to Markdown. Slide masters, footers, pictures and embedded files are ignored."""

    @property
    def reads(self) -> Mapping[str, str]:
        """MIME type → file name endings."""
        return {
            f"{_OPEN}.presentation": ".pptx",
            f"{_OPEN}.slideshow": ".ppsx",
            f"{_OPEN}.template": ".potx",
            "application/vnd.ms-powerpoint.presentation.macroEnabled.12": ".pptm",
        }

    def parse(self, data: bytes) -> Parsed:
        """The text of all slides, each a page; each block has a reference such as `title` or `table 1, row 2`."""
        office, out = Office(data, "presentation"), MarkdownWriter()
        parts, layers, names = list(_slides(office)), dict[str, Layers](), list[str]()
        for number, part in enumerate(parts, 1):
            progress.report_progress("slide", number, len(parts))
            layout = next(office.related(part, "slideLayout"), "")
            if layout not in layers:
                layers[layout] = Layers(office, layout)
            names.append(_Slide(office, part, number, out, layers[layout]).write())
        text, pages = out.done()
        if not text.strip():
            raise Unreadable("there is no text on its slides", code="empty")
        return office.metadata().parsed(text, pages, title=next(filter(None, names), ""))


def make_parser(options: Options) -> Parser:
    """Return the parser."""
    return Pptx()


def _slides(office: Office) -> Iterator[str]:
    """The names of the slides' parts in the order of the presentation."""
    relations = office.relations(office.main)
    listed = list(children(child(office.document, "sldIdLst"), "sldId"))
    if len(listed) > MAX_SLIDES:
        raise Unreadable(f"it has {len(listed)} slides; at most {MAX_SLIDES} are read", code="limit")
    for one in listed:
        relation = relations.get(relation_id(one))
        if relation and not relation.external and relation.target in office.archive:
            yield relation.target


class _Slide:
    """Writes one slide as a page."""

    def __init__(self, office: Office, part: str, number: int, out: MarkdownWriter, layers: Layers) -> None:
        self.office = office
        self.part = part
        self.number = number
        self.out = out
        self.layers = layers
        self.root = office.archive.xml(part)
        self.relations = office.relations(part)
        self.links = links_of(office, part)
        self.counts: dict[str, int] = {}
        self.has_heading = False

    def write(self) -> str:
        """Write the slide and return its title."""
        found = shapes(child(self.root, "cSld", "spTree"), self.layers)
        titles = [plain_text(child(shape.element, "txBody"), self.links) for shape in found if shape.is_title]
        title = next(filter(None, titles), "")
        self.out.page("slide", title)
        self._write_title(title)
        for shape in found:
            if not shape.is_title or plain_text(child(shape.element, "txBody"), self.links) != title:
                self._write_shape(shape)
        self._write_notes()
        return title

    def _write_title(self, title: str) -> None:
        """Write the slide's title as a heading, and a note where the slide is hidden."""
        if title:
            self.out.block(heading(1, title), "title")
            self.has_heading = True
        if attribute(self.root, "show") in ("0", "false"):
            self._put(_HIDDEN, "")

    def _put(self, text: str, ref: str) -> None:
        if text.strip():
            self._lines([(text, ref)])

    def _lines(self, lines: Iterable[tuple[str, str]]) -> None:
        """Write lines; a slide without a title gets its number as heading, which separates it from the slide before."""
        if not self.has_heading:
            self.out.block(heading(1, f"Slide {self.number}"))
            self.has_heading = True
        self.out.lines(lines)

    def _write_shape(self, shape: Shape) -> None:
        name = local_name(shape.element)
        if name == "grpSp":
            for inner in shapes(shape.element, self.layers):
                self._write_shape(inner)
        elif name == "pic":
            number = self._count("picture")
            self._put(picture_text(child(shape.element, "nvPicPr", "cNvPr")), f"picture {number}")
        elif name == "graphicFrame":
            self._write_graphic(child(shape.element, "graphic", "graphicData"))
        else:
            for text in markdown_blocks(paragraphs(child(shape.element, "txBody"), self.links, shape.styles)):
                self._put(text, "text")

    def _write_graphic(self, data: Element | None) -> None:
        """Write a table, chart or diagram."""
        for one in () if data is None else data:
            if local_name(one) == "tbl":
                self._write_table("table", table_rows(one, self.links))
            elif local_name(one) == "chart" and (root := self._related(relation_id(one))) is not None:
                title, rows = chart_title(root), chart_rows(root)
                if rows or title:
                    self._put(title, f"chart {self.counts.get('chart', 0) + 1}")
                    self._write_table("chart", rows)
            elif local_name(one) == "relIds" and (root := self._related(attribute(one, "dm"))) is not None:
                number = self._count("diagram")
                self._put("\n".join(f"- {text}" for text in diagram_texts(root)), f"diagram {number}")

    def _write_table(self, kind: str, rows: list[list[str]]) -> None:
        number = self._count(kind)
        filled = [(cells, f"{kind} {number}, row {at}") for at, cells in enumerate(rows, 1) if any(cells)]
        lines = table([cells for cells, _ in filled])
        refs = [ref for _, ref in filled]
        if lines:
            self._lines(zip(lines, [refs[0], "", *refs[1:]], strict=True))

    def _write_notes(self) -> None:
        for part in self.office.related(self.part, "notesSlide"):
            links = links_of(self.office, part)
            tree = child(self.office.archive.xml(part), "cSld", "spTree")
            bodies = [one for one in children(tree, "sp") if _is_notes(one)]
            texts = [text for one in bodies for text in markdown_blocks(paragraphs(child(one, "txBody"), links))]
            if texts:
                self._put(_NOTES, "")
            for text in texts:
                self._put(text, "notes")

    def _related(self, name: str) -> Element | None:
        relation = self.relations.get(name)
        if relation is None or relation.external or relation.target not in self.office.archive:
            return None
        return self.office.archive.xml(relation.target)

    def _count(self, kind: str) -> int:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return self.counts[kind]


def _is_notes(shape: Element) -> bool:
    placeholder = child(shape, "nvSpPr", "nvPr", "ph")
    return placeholder is not None and attribute(placeholder, "type") == "body"
