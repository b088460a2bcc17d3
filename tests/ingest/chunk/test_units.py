"""Blocks → units."""

import pytest

from pincite.ingest.chunk.units import MAX_CODE_CHUNKS, Splitter
from pincite.text.markdown_blocks import blocks
from pincite.text.tokens import Tokenizer

TOKENIZER = Tokenizer()
SENTENCE = "The quick brown fox jumps over the lazy dog."
CODE = "\n".join(["```", *(f"call({n})" for n in range(20)), "```"])
TABLE = "\n".join(["| a | b |", "|---|---|", *(f"| row {n} | value |" for n in range(12))])


def take_apart(text: str, size: int = 30, overlap: int = 0) -> tuple[list[tuple[str, bool]], list[str]]:
    splitter = Splitter(text, size, overlap, TOKENIZER)
    units = [(text[unit.start : unit.end], unit.solid) for unit in splitter.units(blocks(text, "markdown"))]
    return units, [block.kind for block in splitter.split]


def test_blocks_that_fit_stay_whole():
    text = f"# A\n\n{SENTENCE}\n\n- item\n\n```\nx\n```\n\n| a |\n|---|\n| 1 |"
    units, split = take_apart(text)
    assert [unit for unit, _ in units] == text.split("\n\n")
    assert [solid for _, solid in units] == [False, False, True, True, True]
    assert split == []


def test_a_paragraph_becomes_sentences_that_may_be_entered():
    units, split = take_apart(" ".join([SENTENCE] * 4))
    assert units == [(SENTENCE, False)] * 4
    assert split == []


def test_quotation_marks_lead_the_sentence_on_their_line():
    units, _ = take_apart("\n".join(f"> {SENTENCE}" for _ in range(4)))
    assert units == [(f"> {SENTENCE}", False)] * 4


def test_a_paragraph_under_a_heading_leaves_room_for_it():
    paragraph = " ".join([SENTENCE] * 3)
    size = TOKENIZER.count(paragraph)
    assert len(take_apart(paragraph, size)[0]) == 1
    assert len(take_apart(f"# Heading\n\n{paragraph}", size)[0]) == 4


def test_code_is_whole_up_to_its_limit_and_lines_beyond():
    size = TOKENIZER.count(CODE) // MAX_CODE_CHUNKS
    assert take_apart(CODE, size + 1) == ([(CODE, True)], [])
    units, split = take_apart(CODE, size - 1)
    assert units == [(line, True) for line in CODE.split("\n")]
    assert split == ["code"]


def test_a_table_becomes_rows_the_first_with_the_header():
    units, split = take_apart(TABLE)
    lines = TABLE.split("\n")
    assert units == [("\n".join(lines[:3]), True), *((line, True) for line in lines[3:])]
    assert split == ["table"]


def test_an_item_becomes_its_blocks_and_these_their_sentences():
    text = f"- {SENTENCE} {SENTENCE} {SENTENCE}\n\n  ```\n  x\n  ```\n  - nested"
    units, split = take_apart(text)
    assert units == [
        (f"- {SENTENCE}", False),
        (SENTENCE, False),
        (SENTENCE, False),
        ("```\n  x\n  ```", True),
        ("- nested", True),
    ]
    assert split == ["list"]


@pytest.mark.parametrize("overlap", [0, 10])
def test_pieces_of_an_endless_sentence_leave_room_for_the_overlap(overlap: int):
    units, _ = take_apart("word " * 100, 30, overlap)
    counts = [TOKENIZER.count(unit) for unit, _ in units]
    assert all(count == 30 - overlap for count in counts[:-1])
    assert " ".join(unit for unit, _ in units) == ("word " * 100).strip()


def test_the_header_and_the_room_under_it():
    (table,) = blocks(TABLE, "markdown")
    splitter = Splitter(TABLE, 30, 0, TOKENIZER)
    assert splitter.header(table) == "| a | b |\n|---|---|"
    assert splitter.room_under(table) == 30 - TOKENIZER.count("| a | b |\n|---|---|\n")
    assert Splitter(TABLE, 10, 0, TOKENIZER).header(table) == ""
    assert Splitter(TABLE, 10, 0, TOKENIZER).room_under(table) == 10


class Counting(Tokenizer):
    """A tokenizer that records the texts it counts."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def count(self, text: str) -> int:
        self.asked.append(text)
        return super().count(text)


@pytest.mark.parametrize("width", [2, 200])
def test_the_header_of_a_table_is_counted_once_however_many_parts_ask_for_it(width: int):
    tokenizer = Counting()
    text = "\n".join(["| a " * width + "|", "|---" * width + "|", *["| 1 " * width + "|"] * 5])
    splitter = Splitter(text, 30, 0, tokenizer)
    (table,) = blocks(text, "markdown")
    room = {splitter.room_under(table) for _ in range(5)}
    header = text[: table.header_end]
    assert splitter.header(table) == (header if width == 2 else "")
    assert room == ({30 - TOKENIZER.count(header + "\n")} if width == 2 else {30})
    assert tokenizer.asked == [header + "\n"]
