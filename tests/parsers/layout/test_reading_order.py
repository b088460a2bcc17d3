"""The order a page is read in."""

from pincite.parsers.layout.reading_order import reading_regions

TEXT = "a line of running text in its column"


def read(items) -> list[str]:
    return [item.text for region in reading_regions(items) for item in region]


def test_one_column_is_one_region(line):
    assert len(reading_regions([line(f"{TEXT} {n}", base=100 + 12 * n) for n in range(8)])) == 1


def test_columns_are_read_one_after_the_other(line):
    items = [line(f"{TEXT} {side}{n}", x, 100 + 12 * n) for n in range(4) for side, x in (("l", 0), ("r", 230))]
    assert read(items) == [f"{TEXT} {side}{n}" for side in "lr" for n in range(4)]


def test_three_columns_are_read_one_after_the_other(line):
    items = [
        line(f"{TEXT} {side}{n}", x, 100 + 12 * n)
        for n in range(4)
        for side, x in zip("lmr", (0, 230, 460), strict=True)
    ]
    assert read(items) == [f"{TEXT} {side}{n}" for side in "lmr" for n in range(4)]


def test_a_spanning_line_separates_columns(line):
    def block(top: float, name: str):
        return [
            line(f"{TEXT} {name}{side}{n}", x, top + 12 * n) for n in range(4) for side, x in (("l", 0), ("r", 230))
        ]

    wide = line(f"{TEXT} {TEXT}", 0, 160)
    expected = [f"{TEXT} a{side}{n}" for side in "lr" for n in range(4)] + [wide.text]
    assert read([*block(100, "a"), wide, *block(180, "b")]) == expected + [
        f"{TEXT} b{side}{n}" for side in "lr" for n in range(4)
    ]


def test_a_line_that_is_a_little_too_long_does_not_part_columns(line):
    items = [line(f"{TEXT} {side}{n}", x, 100 + 12 * n) for n in range(6) for side, x in (("l", 0), ("r", 230))]
    items[4] = line(f"{TEXT} l2 too long", 0, 124)
    items[5] = line("short", 300, 124)
    assert [text[-2:] for text in read(items)][:6] == ["l0", "l1", "ng", "l3", "l4", "l5"]


def test_short_cells_in_rows_are_no_columns(line):
    items = [line(text, x, 100 + 12 * n) for n in range(5) for text, x in (("Name", 0), ("Ida", 100))]
    assert len(reading_regions(items)) == 1
