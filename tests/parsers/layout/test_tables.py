"""Tables."""

from pincite.parsers.layout.lines import pieces, rows
from pincite.parsers.layout.tables import Table, aligned_tables, ruled_tables
from pincite.parsers.layout.words import Rule, Sheet

DOWN = tuple(Rule(at, 80, 160) for at in (0, 100, 200))


def texts(table: Table) -> list[list[str]]:
    return [[" ".join(word.text for word in cell) for cell in row] for row in table.rows]


def test_words_between_rules_are_in_cells_and_others_are_left(words):
    across = tuple(Rule(at, 0, 200) for at in (80, 120, 160))
    inside = [
        *words("Item", 10),
        *words("Price", 110),
        *words("a rope", 10, 140),
        *words("of", 10, 152),
        *words("12", 110, 140),
    ]
    tables, left = ruled_tables(Sheet(0, 300, 300, (*inside, *words("outside", base=200)), across, DOWN))
    assert [texts(table) for table in tables] == [[["Item", "Price"], ["a rope of", "12"]]]
    assert [word.text for word in left] == ["outside"]


def test_rows_that_no_rule_parts_are_rows_all_the_same(words):
    across = tuple(Rule(at, 0, 200) for at in (80, 110, 160))
    body = [
        word
        for number in range(3)
        for x, text in ((10, "name"), (110, "12"))
        for word in words(text, x, 122 + 12 * number)
    ]
    tables, _ = ruled_tables(Sheet(0, 300, 300, (*words("Item", 10), *words("Price", 110), *body), across, DOWN))
    assert texts(tables[0]) == [["Item", "Price"], ["name", "12"], ["name", "12"], ["name", "12"]]


def test_a_table_with_rules_across_only_has_the_columns_its_gaps_make(words):
    across = tuple(Rule(at, 0, 200) for at in (80, 110, 160))
    rows_of = [("Method", "Score"), ("first", "62.3"), ("second", "66.6")]
    body = [
        word
        for n, row in enumerate(rows_of)
        for x, text in zip((10, 110), row, strict=True)
        for word in words(text, x, 100 + 20 * n)
    ]
    tables, left = ruled_tables(Sheet(0, 300, 300, tuple(body), across))
    assert texts(tables[0]) == [list(row) for row in rows_of]
    assert left == []


def test_tables_with_rules_across_only_are_told_apart_from_the_text_between_them(words):
    across = tuple(Rule(at, 0, 200) for at in (80, 110, 160, 280, 310, 360))
    cells = [word for top in (100, 300) for n in range(3) for x in (10, 110) for word in words("cell", x, top + 20 * n)]
    text = words("Text that goes from one side to the other.", 0, 220)
    tables, left = ruled_tables(Sheet(0, 300, 500, (*cells, *text), across))
    assert [texts(table) for table in tables] == [[["cell", "cell"]] * 3] * 2
    assert left == text


def test_headings_with_numbers_between_rules_are_no_table(words):
    across = tuple(Rule(at, 0, 480) for at in (80, 90, 300))
    lines = [*words("3.1", 0, 110), *words("Costs", 40, 110), *words("3.1.1", 0, 140), *words("Travel", 40, 140)]
    assert ruled_tables(Sheet(0, 500, 500, tuple(lines), across)) == ([], lines)


def test_two_columns_of_text_between_rules_are_no_table(words):
    across = tuple(Rule(at, 0, 480) for at in (80, 90, 300))
    text = [
        word
        for n in range(9)
        for x in (0, 250)
        for word in words("text that runs on in its own column", x, 110 + 12 * n)
    ]
    tables, left = ruled_tables(Sheet(0, 500, 500, tuple(text), across))
    assert tables == []
    assert left == text


def test_a_frame_around_running_text_is_no_table(words):
    across = tuple(Rule(at, 0, 200) for at in (80, 120, 2000))
    down = tuple(Rule(at, 80, 2000) for at in (0, 100, 200))
    lines = [word for n in range(70) for word in words("two words", 10, 130 + 12 * n)]
    tables, left = ruled_tables(Sheet(0, 300, 2100, (*words("a", 10), *words("b", 110), *lines), across, down))
    assert tables == []
    assert len(left) == 142


def test_a_drawing_with_few_words_in_it_is_no_table(words):
    across = tuple(Rule(20.0 * at, 0, 200) for at in range(9))
    down = tuple(Rule(20.0 * at, 0, 160) for at in range(11))
    tables, _ = ruled_tables(Sheet(0, 300, 300, (*words("a", 5, 15), *words("b", 45, 55)), across, down))
    assert tables == []


def columns(words, *lines: tuple[str, ...]):
    cells = [
        word for n, row in enumerate(lines) for m, text in enumerate(row) for word in words(text, 100 * m, 100 + 12 * n)
    ]
    return rows(pieces(cells))


def test_clear_columns_are_a_table(words):
    found = aligned_tables(columns(words, ("only one",), ("a", "1", "x"), ("b", "2", "y"), ("c", "3", "z"), ("end",)))
    assert [(start, end, texts(table)) for start, end, table in found] == [
        (1, 4, [["a", "1", "x"], ["b", "2", "y"], ["c", "3", "z"]])
    ]


def test_numbers_to_the_right_are_under_a_heading_to_the_left(words):
    rows_of = [("Item", "Pieces", "Weight"), ("Rope", "12", "48"), ("Lamp", "40", "3"), ("Shovel", "14", "9")]
    left, right = (0, 100, 180), (0, 160, 260)
    cells = [
        word
        for n, row in enumerate(rows_of)
        for text, x in zip(row, right if n else left, strict=True)
        for word in words(text, x, 100 + 12 * n)
    ]
    ((_, _, table),) = aligned_tables(rows(pieces(cells)))
    assert texts(table) == [list(row) for row in rows_of]


def test_numbered_lists_and_contents_are_no_tables(words):
    assert aligned_tables(columns(words, *[(f"{n}.", "Do this") for n in range(1, 7)])) == []
    assert aligned_tables(columns(words, *[("Chapter . . . . .", "12", "x") for _ in range(6)])) == []


def test_two_short_columns_need_more_rows(words):
    assert aligned_tables(columns(words, *[("Name", "Ida")] * 3)) == []
    assert len(aligned_tables(columns(words, *[("Name", "Ida")] * 4))) == 1
