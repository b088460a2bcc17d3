"""Markdown tables and their rows: the names of the columns, and the cells."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pincite.core.query.hits import RetrievedChunk
from pincite.text.markdown_blocks import plain

_CELL_END = re.compile(r"(?<!\\)\|")
_DELIMITER = re.compile(r"(?=[ \t:|]*+-)[ \t:|-]++(?:\n|$)")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: the names of its columns, empty where they do not fit, and its cells."""

    names: tuple[str, ...]
    cells: tuple[str, ...]

    def to_text(self) -> str:
        """The row as one sentence, each cell with the name of its column."""
        if len(self.names) != len(self.cells):
            return "; ".join(cell for cell in self.cells if cell) + "."
        pairs = zip(self.names, self.cells, strict=True)
        return "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell) + "."


@dataclass(frozen=True, slots=True)
class TableRow:
    """The cells of a row, and its offsets in the text."""

    cells: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Table:
    """A table: the names of its columns and its rows, each with as many cells."""

    names: tuple[str, ...]
    rows: tuple[TableRow, ...]

    def column(self, number: int) -> list[str]:
        """The cells of a column, from the first row to the last."""
        return [row.cells[number] for row in self.rows]

    def row_text(self, row: TableRow) -> str:
        """A row as one sentence, each cell with the name of its column."""
        return Row(self.names, row.cells).to_text()


def tables_in(text: str, header: str = "") -> Iterator[Table]:
    """The tables of a text with column names; `header` is that of a table which begins before the text."""
    block = list[TableRow]()
    names = tuple(cells(header.split("\n")[0])) if header else ()
    at = 0
    for line in [*text.split("\n"), ""]:
        if line.lstrip().startswith("|"):
            if _DELIMITER.match(line.lstrip()) and len(block) == 1:
                names = block.pop().cells
            else:
                block.append(TableRow(tuple(cells(line)), at, at + len(line)))
        elif block or line.strip():
            yield from _table(names, block)
            names, block = (), []
        at += len(line) + 1


def _table(names: tuple[str, ...], block: list[TableRow]) -> Iterator[Table]:
    """The table of these rows; a row with fewer or more cells than the header is not read as one of its rows."""
    if block and any(names) and all(len(row.cells) == len(names) for row in block):
        yield Table(names, tuple(block))


def is_row(text: str) -> bool:
    """Whether a sentence is a row of a table."""
    return text.startswith("|")


def is_header(text: str, after: int) -> bool:
    """Whether the line that ends at `after` is the header of a table: a delimiter row follows it."""
    return text.startswith("\n", after) and bool(_DELIMITER.match(text, after + 1))


def row_at(chunk: RetrievedChunk, start: int, end: int) -> Row:
    """The row between two offsets of a chunk."""
    return Row(tuple(columns(chunk, start)), tuple(cells(chunk.text[start:end])))


def columns(chunk: RetrievedChunk, start: int) -> list[str]:
    """The column names of the table in which a row starts; those of a table cut by chunking are in `chunk.header`."""
    lines = f"{chunk.header}\n{chunk.text[:start]}".rstrip().split("\n")
    for number in range(len(lines) - 1, 0, -1):
        if _DELIMITER.match(lines[number]) and "|" in lines[number - 1]:
            return cells(lines[number - 1])
        if lines[number].strip() and not lines[number].lstrip().startswith("|"):
            break
    return []


def cells(row: str) -> list[str]:
    """The cells of a row without their markup; `\\|` is a bar inside a cell."""
    bare = row.strip().removeprefix("|")
    bare = bare[:-1] if bare.endswith("|") and not bare.endswith("\\|") else bare
    return [plain(cell.replace("\\|", "|")) for cell in _CELL_END.split(bare)]
