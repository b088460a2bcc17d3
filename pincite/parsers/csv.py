"""Parses CSV and TSV files as one table; the delimiter is detected."""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass

from pincite.core.documents.document import Parsed
from pincite.core.protocols import Parser
from pincite.errors import Unreadable
from pincite.parsers.markdown_out.tables import MAX_COLUMNS, write_tables
from pincite.parsers.markdown_out.writer import MarkdownWriter
from pincite.text.charset import decode

MAX_CELLS = 2_000_000
"""Maximum number of cells with text in a file."""

_DELIMITERS = ",;\t|"
_SAMPLE_CHARS = 65536
_SAMPLE_ROWS = 100
"""Characters and rows from which the delimiter is detected."""
_SEPARATOR_LINE = "sep="
"""The start of a first line in which some programs name the delimiter: `sep=;`."""


@dataclass(frozen=True, slots=True)
class Options:
    """This parser has no options."""


class Csv:
    """Parses tables in text files."""

    @property
    def reads(self) -> Mapping[str, str]:
        """MIME type → file name endings."""
        return {"text/csv": ".csv", "text/tab-separated-values": ".tsv .tab"}

    def parse(self, data: bytes) -> Parsed:
        """The table as Markdown, as one page; each row has a reference to its cells as in a spreadsheet (`A3:C3`)."""
        rows = _rows(decode(data))
        if not rows:
            raise Unreadable("there is no text in the file", code="empty")
        out = MarkdownWriter()
        out.page("sheet")
        write_tables(rows, out, side_by_side=False)
        text, pages = out.done()
        if not text.strip():
            raise Unreadable("there is no text in the file", code="empty")
        return Parsed(text=text, markup="markdown", pages=pages)


def make_parser(options: Options) -> Parser:
    """Return the parser."""
    return Csv()


def _rows(text: str) -> list[tuple[int, dict[int, str]]]:
    delimiter, start = _delimiter(text)
    found: list[tuple[int, dict[int, str]]] = []
    cells = 0
    reader = csv.reader(io.StringIO(text[start:], newline=""), delimiter=delimiter)
    try:
        for number, values in enumerate(reader, 1):
            if len(values) > MAX_COLUMNS:
                raise Unreadable(
                    f"row {number} has {len(values)} columns; at most {MAX_COLUMNS} are read", code="limit"
                )
            if filled := {at: value for at, value in enumerate(values, 1) if value.strip()}:
                found.append((number, filled))
                cells += len(filled)
            if cells > MAX_CELLS:
                raise Unreadable(f"it has more than {MAX_CELLS} cells; split the file", code="limit")
    except csv.Error as error:
        raise Unreadable(f"line {reader.line_num} cannot be read ({error}); fix its quotes", code="broken") from None
    return found


def _delimiter(text: str) -> tuple[str, int]:
    """The delimiter and the start of the values: as named in the first line, else the one with the most even rows."""
    first = text.partition("\n")[0]
    if first.lower().startswith(_SEPARATOR_LINE) and len(first) == len(_SEPARATOR_LINE) + 1:
        return first[-1], len(first) + 1
    return max(_DELIMITERS, key=lambda delimiter: _evenness(text[:_SAMPLE_CHARS], delimiter)), 0


def _evenness(sample: str, delimiter: str) -> tuple[float, bool, int]:
    """How well a delimiter fits a sample: the share of rows with the most common width, as a sort key.

    Another delimiter that fits equally well wins over the comma, which is also used in numbers and sentences.
    """
    widths: list[int] = []
    try:
        for values in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter):
            if values:
                widths.append(len(values))
            if len(widths) == _SAMPLE_ROWS:
                break
    except csv.Error:
        return 0.0, False, 0
    usual = max(set(widths), key=lambda width: (widths.count(width), width), default=1)
    return (widths.count(usual) / len(widths), delimiter != ",", usual) if usual > 1 else (0.0, False, 0)
