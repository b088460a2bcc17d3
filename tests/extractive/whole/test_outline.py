from pincite.extractive.whole.outline import OutlineSection, label_of, sections_of
from tests.builders import hit

MINUTES = """SITE MEETING

Present:  Ines Calloway, Bram Okafor

1. Roof
   The roof leaks above the second window, and the tiler can only come in the
   week of 5. May or later.

2. Any other business
   - New gate
     with a lock
   - Old gate

Next meeting: Monday
"""
LOG = "2025-01-12 02:00:01 INFO started\n  by cron\n2025-01-12 02:41:37 INFO finished"


def outline(*texts: str, path: tuple[str, ...] = (), **more: object) -> list[tuple[str, list[tuple[str, str]]]]:
    """The sections of one document, each chunk of it with the same headings: kinds and texts of the blocks."""
    start, sources = 0, []
    for text in texts:
        sources.append(
            hit(text, document_id="d", start_char=start, end_char=start + len(text), heading_path=path, **more)
        )
        start += len(text)
    return [(section.heading, blocks(section, [one.chunk.text for one in sources])) for section in sections_of(sources)]


def blocks(section: OutlineSection, texts: list[str]) -> list[tuple[str, str]]:
    return [
        (block.kind, " ".join(texts[block.source - 1][block.start : block.end].split())) for block in section.blocks
    ]


def test_the_sections_of_a_plain_text_begin_with_lines_that_look_like_headings() -> None:
    found = outline(MINUTES)
    assert [heading for heading, _ in found] == ["SITE MEETING", "1. Roof", "2. Any other business", ""]
    assert found[0][1] == [("line", "Present: Ines Calloway, Bram Okafor")]
    assert found[1][1][0][1].endswith("or later.")  # a wrapped line that begins with a date is no item
    assert found[2][1] == [("item", "New gate with a lock"), ("item", "Old gate")]
    assert found[3][1] == [("line", "Next meeting: Monday")]


def test_a_list_that_chunking_has_split_is_one_list() -> None:
    found = outline(
        "## Round\n\n1. Check the boiler.\n2. Read the meter.\n", "3. Lock the gate.\n", path=("House", "Round")
    )
    assert found == [
        ("Round", [("step", "Check the boiler."), ("step", "Read the meter."), ("step", "Lock the gate.")])
    ]


def test_chunks_are_put_into_the_order_of_their_document() -> None:
    late, early = (
        hit(text, document_id="d", start_char=at, end_char=at + 4) for text, at in (("Two.", 10), ("One.", 0))
    )
    [section] = sections_of([late, early])
    assert [block.source for block in section.blocks] == [2, 1]


def test_the_rows_of_a_table_and_its_header_are_told_apart() -> None:
    [(heading, found)] = outline("# Fees\n\n| Who | Fee |\n|---|---|\n| Adults | 4 |\n| Children | 2 |", path=("Fees",))
    assert (heading, [kind for kind, _ in found]) == ("Fees", ["header", "row", "row"])


def test_the_entries_of_a_log_are_lines_of_their_own() -> None:
    [(_, found)] = outline(LOG)
    assert found == [
        ("line", "2025-01-12 02:00:01 INFO started by cron"),
        ("line", "2025-01-12 02:41:37 INFO finished"),
    ]


def test_text_that_chunks_share_is_read_once() -> None:
    first, second = (
        hit(text, document_id="d", start_char=at, end_char=at + len(text))
        for text, at in (("- one\n- two\n", 0), ("- two\n- three\n", 6))
    )
    [section] = sections_of([first, second])
    assert [(block.source, block.start) for block in section.blocks] == [(1, 2), (1, 8), (2, 8)]


def test_the_label_of_a_line() -> None:
    assert (label_of("Action: Bram orders"), label_of("**Action**: Bram"), label_of("At 10:30 we go")) == (
        "action",
        "action",
        "",
    )


def test_headings_above_a_passage_stay_above_it() -> None:
    passage = hit("# Quotes\n\n## Alba\n\nIt is cheap.", title="Quotes", heading_path=("Quotes", "Alba"))
    assert [section.path for section in sections_of([passage])] == [("Quotes", "Alba")]
