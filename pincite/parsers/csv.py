"""Comma-separated values and their kin: one table, its delimiter told by what fits."""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass

from pincite.core.documents.document import Parsed
from pincite.core.protocols import Parser
from pincite.errors import Unreadable
from pincite.parsers.markdown_out.tables import MAX_COLUMNS, tell
from pincite.parsers.markdown_out.writer import MarkdownWriter
from pincite.text.charset import decode

MAX_CELLS = 2_000_000

_DELIMITERS = ",;\t|"
_SAMPLE = 65536
_SAMPLE_ROWS = 100
_SAID = "sep="
"""How some programs say in the first line what they part values by."""


@dataclass(frozen=True, slots=True)
class Options:
    """Nothing to choose."""


class Csv:
    """Reads tables in text files."""

    @property
    def reads(self) -> Mapping[str, str]:
        """MIME type → file name endings."""
        return {"text/csv": ".csv", "text/tab-separated-values": ".tsv .tab"}

    def parse(self, data: bytes) -> Parsed:
        """The table as Markdown, a page with the cells that every row was made of, counted as a spreadsheet would."""
        rows = _rows(decode(data))
        if not rows:
            raise Unreadable("there is no text in the file", code="empty")
        out = MarkdownWriter()
        out.page("sheet")
        tell(rows, out, side_by_side=False)
        text, pages = out.done()
        if not text.strip():
            raise Unreadable("there is no text in the file", code="empty")
        return Parsed(text=text, markup="markdown", pages=pages)


def make_parser(options: Options) -> Parser:
    """Build the parser."""
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
            if held := {at: value for at, value in enumerate(values, 1) if value.strip()}:
                found.append((number, held))
                cells += len(held)
            if cells > MAX_CELLS:
                raise Unreadable(f"it has more than {MAX_CELLS} cells; split it", code="limit")
    except csv.Error as error:
        raise Unreadable(f"line {reader.line_num} cannot be read ({error}); mend its quotes", code="broken") from None
    return found


def _delimiter(text: str) -> tuple[str, int]:
    """What parts the values, and where they begin: said in the first line, or found by what gives the most even rows."""
    first = text.partition("\n")[0]
    if first.lower().startswith(_SAID) and len(first) == len(_SAID) + 1:
        return first[-1], len(first) + 1
    return max(_DELIMITERS, key=lambda delimiter: _evenness(text[:_SAMPLE], delimiter)), 0


def _evenness(sample: str, delimiter: str) -> tuple[float, bool, int]:
    """How much a sample looks like a table when cut by this delimiter: the share of rows as wide as most are.

    A comma stands in numbers and sentences too: where another delimiter fits as well, it is that one.
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
