"""The console and its layouts: wrapped text, tables without borders, quotes behind a bar."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pincite.cli.output import clean

MAX_TEXT_COLUMNS = 100
"""Maximum columns of wrapped text; longer lines are hard to read."""
MIN_TEXT_COLUMNS = 20
"""Minimum columns of wrapped text, even on a narrower terminal."""
UNLIMITED_COLUMNS = 100_000
"""Columns without a terminal: lines in a pipe or a file are never wrapped."""


class Screen(Console):
    """A console that prints text literally, without markup, emoji codes or highlighting."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, highlight=False, emoji=False)

    def print_line(self, *parts: "str | Text | tuple[str, str]") -> None:
        """Print one line, never wrapped."""
        self.print(join_text(*parts), soft_wrap=True)

    @property
    def columns(self) -> int:
        """Columns available to a table."""
        return self.width if self.is_terminal else UNLIMITED_COLUMNS

    def print_table(self, table: Table, *, drop_first: Sequence[str] = ()) -> None:
        """Print a table; on a narrow terminal, drop the columns `drop_first` in this order until it fits."""
        for name in drop_first:
            if self.measure(table, options=self.options.update(width=UNLIMITED_COLUMNS)).maximum > self.columns:
                table.columns = [column for column in table.columns if column.header != name]
        if self.is_terminal:
            self.print(table)
        else:
            self._print_unwrapped(table)

    def _print_unwrapped(self, table: Table) -> None:
        made = [[*([str(column.header)] * table.show_header), *map(str, column.cells)] for column in table.columns]
        widths = [max(map(cell_len, cells)) for cells in made]
        for row in zip(*made, strict=True):
            blanks = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
            right = [column.justify == "right" for column in table.columns]
            cells = [b + c if r else c + b for c, b, r in zip(row, blanks, right, strict=True)]
            self.print_line("  ".join(cells).rstrip())

    def print_wrapped(self, body: Text, *, indent: int = 0, lead: "Text | None" = None, bar: str = "") -> None:
        """Print wrapped text, each line indented and prefixed by `bar`; the first line begins with `lead`."""
        width = max(MIN_TEXT_COLUMNS, min(self.width, MAX_TEXT_COLUMNS) - indent - cell_len(bar))
        for number, wrapped in enumerate(body.wrap(self, width)):
            wrapped.rstrip()
            before = lead if lead is not None and number == 0 else Text()
            margin = " " * max(0, indent - before.cell_len) if wrapped or bar else ""
            self.print_line(before, margin, (bar, "dim"), wrapped)


def styled(text: str, style: str = "") -> Text:
    """Styled text with control characters escaped."""
    return Text(clean(text), style=style)


def join_text(*parts: "str | Text | tuple[str, str]") -> Text:
    """Concatenate parts; a pair is a text and its style."""
    made = Text()
    for part in parts:
        made.append_text(part if isinstance(part, Text) else styled(part) if isinstance(part, str) else styled(*part))
    return made


def make_table(*columns: str, header: bool = True) -> Table:
    """A table without borders; a column name with prefix `>` is right-aligned, one with `~` may wrap."""
    table = Table(box=None, show_header=header, header_style="dim", padding=(0, 2, 0, 0), pad_edge=False)
    for name in columns:
        table.add_column(
            name.lstrip(">~"),
            justify="right" if name.startswith(">") else "left",
            no_wrap=not name.startswith("~"),
            overflow="fold" if name.startswith("~") else "ellipsis",
        )
    return table


def shorten(text: str, width: int) -> str:
    """Shorten text to `width` columns in the middle, since both ends of a name identify it."""
    text = clean(text)
    if cell_len(text) <= width:
        return text
    if width < 5:
        return set_cell_size(text, max(0, width)).rstrip()
    tail = (width - 1) // 2
    end = text
    while cell_len(end) > tail:
        end = end[1:]
    return set_cell_size(text, width - 1 - tail).rstrip() + "…" + end


@contextmanager
def waiting(what: str) -> Iterator[Callable[[], None]]:
    """Show a spinner on a terminal; the yielded function stops it early."""
    screen = Screen(stderr=True)
    if not screen.is_terminal:
        yield lambda: None
        return
    with screen.status(styled(what, "dim")) as status:
        yield status.stop
