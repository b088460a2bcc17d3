"""Rows of Markdown tables: the names of their columns, and their cells."""

import re
from dataclasses import dataclass

from pincite.core.query.hits import RetrievedChunk
from pincite.text.markdown_blocks import plain

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
    """The cells of a row without their markup."""
    return [plain(cell) for cell in row.strip().strip("|").split("|")]
