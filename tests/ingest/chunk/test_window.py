"""Window chunking."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.config.branches.ingestion import Chunking
from pincite.core.documents.document import Chunk, ChunkLevel, Parsed
from pincite.core.documents.pages import Page
from pincite.ingest.chunk.sections import sections
from pincite.ingest.chunk.window import window_chunks
from pincite.text.tokens import Tokenizer

TOKENIZER = Tokenizer()
SENTENCE = "The quick brown fox jumps over the lazy dog near the river bank. "
SMALL = Chunking(strategy="window", window_chars=100, window_overlap_chars=20)


def rows(text: str, chunking: Chunking = SMALL, **fields: object) -> list[Chunk]:
    parsed = Parsed(text, "markdown", **fields)  # type: ignore[arg-type]
    return window_chunks(parsed, sections(parsed), chunking, TOKENIZER)


def passages(text: str, chunking: Chunking = SMALL) -> list[Chunk]:
    return [row for row in rows(text, chunking) if row.level is ChunkLevel.CHUNK]


def test_a_window_is_full_to_four_fifths_at_least_and_begins_with_the_end_of_the_one_before():
    chunking = Chunking(strategy="window")
    found = passages(SENTENCE * 100, chunking)
    assert len(found) > 5
    assert all(800 <= len(one.text) <= 1000 for one in found[:-1])
    assert all(150 <= before.end - after.start <= 250 for before, after in pairwise(found))


def test_a_window_ends_with_a_paragraph_or_a_sentence_where_one_ends_in_time():
    first, *_ = passages("word " * 17 + "end.\n\n" + SENTENCE * 3)
    assert first.text.endswith("end.")
    first, *_ = passages("word " * 17 + "end. " + SENTENCE * 3)
    assert first.text.endswith("end.")


def test_aware_of_headings_no_window_reaches_beyond_its_section():
    text = f"# A\n\nShort.\n\n# B\n\n{SENTENCE * 3}"
    found = rows(text)
    assert [row.heading_path for row in found if row.level is ChunkLevel.CHUNK][:2] == [("A",), ("B",)]
    assert next(row.text for row in found if row.level is ChunkLevel.CHUNK) == "# A\n\nShort."


def test_unaware_of_headings_windows_go_on_and_belong_to_the_section_they_begin_in():
    text = f"# A\n\nShort.\n\n# B\n\n{SENTENCE * 3}"
    found = rows(text, SMALL.model_copy(update={"header_aware": False}))
    first, *others = [row for row in found if row.level is ChunkLevel.CHUNK]
    assert first.text.startswith("# A\n\nShort.\n\n# B\n\nThe quick")
    assert first.heading_path == ("A",)
    assert {row.heading_path for row in others} == {("B",)}
    assert found[first.parent or 0].heading_path == ("A",)


@pytest.mark.parametrize("header_aware", [True, False])
def test_no_window_reaches_beyond_its_page(header_aware: bool):
    pages = [f"# A\n\n{SENTENCE * 2}", SENTENCE * 3, "Short.", f"# B\n\n{SENTENCE}"]
    starts = [sum(len(page) + 2 for page in pages[:n]) for n in range(len(pages))]
    chunking = SMALL.model_copy(update={"header_aware": header_aware})
    found = rows("\n\n".join(pages), chunking, pages=tuple(Page(start) for start in starts))
    windows = [row for row in found if row.level is ChunkLevel.CHUNK]
    assert {row.page for row in windows} == {1, 2, 3, 4}
    assert all(row.text in pages[(row.page or 0) - 1] for row in windows)
    assert [row.text for row in windows if row.page == 3] == ["Short."]


def test_a_word_longer_than_a_window_is_cut_where_the_window_ends():
    found = passages("x" * 250)
    assert [len(one.text) for one in found] == [100, 100, 90]


@pytest.mark.parametrize("header_aware", [True, False])
@given(text=st.text(alphabet="ab c.\n#|-`é😀 ", max_size=900), size=st.integers(100, 160), overlap=st.integers(0, 200))
def test_every_window_is_a_slice_and_together_they_hold_all_but_white_space(
    text: str, size: int, overlap: int, header_aware: bool
):
    chunking = Chunking(strategy="window", window_chars=size, window_overlap_chars=overlap, header_aware=header_aware)
    found = rows(text, chunking)
    covered: set[int] = set()
    for number, row in enumerate(found):
        assert (row.ordinal, row.text) == (number, text[row.start : row.end])
        assert row.start_line == text.count("\n", 0, row.start) + 1
        assert row.end_line == text.count("\n", 0, row.end - 1) + 1
        assert row.text == row.text.strip()
        if row.level is ChunkLevel.CHUNK:
            assert len(row.text) <= size
            parent = found[row.parent or 0]
            assert parent.level is ChunkLevel.SECTION
            assert parent.start <= row.start < parent.end
            assert not header_aware or row.end <= parent.end
            covered |= set(range(row.start, row.end))
    assert {at for at, char in enumerate(text) if not char.isspace()} <= covered
    starts = [row.start for row in found if row.level is ChunkLevel.CHUNK]
    assert starts == sorted(set(starts))
