"""The reading order of lines and tables."""

from pincite.parsers.layout.blocks import Line, page_items, to_flow
from pincite.parsers.layout.lines import pieces
from pincite.parsers.layout.tables import Table
from pincite.parsers.layout.words import Rule, Sheet

TEXT = "a line of running text in its column"


def shown(found) -> list[str]:
    return [item.piece.text if isinstance(item, Line) else "table" for item in found]


def test_pieces_of_one_row_are_one_line(words):
    assert shown(to_flow(pieces([*words("Name", 0), *words("Ida", 100), *words("below", base=112)]))) == [
        "Name Ida",
        "below",
    ]


def test_a_table_stands_between_the_lines_around_it(words):
    across, down = tuple(Rule(at, 0, 200) for at in (80, 110, 140)), tuple(Rule(at, 80, 140) for at in (0, 100, 200))
    cells = [word for x in (10, 110) for base in (100, 130) for word in words("cell", x, base)]
    found = page_items(Sheet(0, 300, 300, (*words("above", base=60), *words("below", base=160), *cells), across, down))
    assert shown(to_flow(found)) == ["above", "table", "below"]
    assert sum(isinstance(item, Table) for item in found) == 1


def test_a_new_column_begins_afresh(line):
    found = to_flow(
        [line(f"{TEXT} {side}{n}", x, 100 + 12 * n) for n in range(4) for side, x in (("l", 0), ("r", 230))]
    )
    assert [item.fresh for item in found if isinstance(item, Line)] == [False] * 4 + [True] + [False] * 3


def test_footnotes_of_the_first_column_come_last(line):
    columns = [line(f"{TEXT} {side}{n}", x, 100 + 12 * n) for n in range(4) for side, x in (("l", 0), ("r", 230))]
    notes = [line("1 a note in small letters", 0, 160, 7), line("that goes on", 0, 168, 7)]
    assert shown(to_flow([*columns, *notes]))[-3:] == [f"{TEXT} r3", "1 a note in small letters", "that goes on"]
    small = line("small print without a mark", 0, 160, 7)
    assert shown(to_flow([*columns, small]))[4] == small.text


def test_an_empty_page_gives_no_lines():
    assert to_flow([]) == []
