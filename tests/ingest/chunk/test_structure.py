"""Sections → chunks."""

import time
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pincite.core.documents.document import Chunk, ChunkLevel, Parsed
from pincite.core.documents.pages import Page
from pincite.ingest.chunk.sections import sections
from pincite.ingest.chunk.structure import structure_chunks
from pincite.ingest.chunk.units import MAX_CODE_CHUNKS
from pincite.text.sentences import normalise
from pincite.text.tokens import Tokenizer

TOKENIZER = Tokenizer()
SENTENCE = "The quick brown fox jumps over the lazy dog near the river bank. "


def rows(text: str, size: int = 40, overlap: int = 0, markup: str = "markdown", **fields: object) -> list[Chunk]:
    parsed = Parsed(text, markup, **fields)  # type: ignore[arg-type]
    return structure_chunks(parsed, sections(parsed), size=size, overlap=overlap, tokenizer=TOKENIZER)


def passages(text: str, size: int = 40, overlap: int = 0, markup: str = "markdown") -> list[Chunk]:
    return [row for row in rows(text, size, overlap, markup) if row.level is ChunkLevel.CHUNK]


def texts(text: str, size: int = 40, overlap: int = 0, markup: str = "markdown") -> list[str]:
    return [row.text for row in passages(text, size, overlap, markup)]


def count(text: str) -> int:
    return TOKENIZER.count(text)


# Rows


def test_the_document_its_sections_and_their_passages_in_reading_order():
    text = "# A\n\none\n\n## B\n\n" + SENTENCE * 4
    found = rows(text)
    assert [row.ordinal for row in found] == list(range(len(found)))
    assert [(row.level, row.parent) for row in found] == [
        (ChunkLevel.DOCUMENT, None),
        (ChunkLevel.SECTION, 0),
        (ChunkLevel.CHUNK, 1),
        (ChunkLevel.SECTION, 0),
        (ChunkLevel.CHUNK, 3),
        (ChunkLevel.CHUNK, 3),
    ]
    assert [row.heading_path for row in found] == [(), ("A",), ("A",), ("A", "B"), ("A", "B"), ("A", "B")]
    assert found[0].text == text.strip()
    assert found[0].tokens == count(text.strip())


def test_lines_and_pages_are_those_of_the_first_and_last_character():
    text = "page one\n\npage two\n\nends\n\npage four"
    document = Parsed(text, "plain", pages=tuple(map(Page, (0, 10, 26, 26))))
    (whole, _, passage) = structure_chunks(document, sections(document), size=100, overlap=0, tokenizer=TOKENIZER)
    assert (whole.start_line, whole.end_line, passage.page) == (1, 7, 1)
    small = structure_chunks(document, sections(document), size=3, overlap=0, tokenizer=TOKENIZER)[2:]
    assert [(row.text, row.start_line, row.page) for row in small] == [
        ("page one", 1, 1),
        ("page two", 3, 2),
        ("ends", 5, 2),
        ("page four", 7, 4),
    ]
    assert rows("no pages")[0].page is None


def test_front_matter_is_in_no_chunk():
    assert [row.text for row in rows("---\nt: x\n---\nbody", body_start=13)] == ["body"] * 3


def test_white_space_gives_no_rows():
    assert rows(" \n\n") == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("# H\n\nwords and words", "prose"),
        ("Intro:\n\n```\nlong_code = here(and, there)\nmore = 1\n```", "code"),
        ("x\n\n| a | b |\n|---|---|\n| 1 | 2 |", "table"),
        ("List:\n\n- one thing\n- another thing", "list"),
        ("# Only a heading", "prose"),
    ],
)
def test_the_content_type_is_that_of_most_characters(text: str, kind: str):
    assert passages(text)[0].content_type == kind


def test_a_passage_in_another_language_gets_its_language():
    german = "Der Vertrag endet mit Ablauf des Monats, in dem die Kündigung zugegangen ist."
    english = "The contract ends at the end of the month in which the notice was received. " * 3
    found = {row.text[:3]: row.language for row in passages(f"# A\n\n{english}\n\n# B\n\n{german}\n\n# C\n\nok", 500)}
    assert list(found.values()) == ["en", "de", "en"]


# Blocks


def test_a_section_that_fits_is_one_passage():
    text = "# A\n\none\n\n- two\n\n```\nthree\n```"
    assert texts(text) == [text]


def test_paragraphs_stay_whole_where_they_fit():
    one, two = (SENTENCE * 2).strip(), (SENTENCE * 2).strip()
    assert texts(f"{one}\n\n{two}") == [one, two]


def test_long_paragraphs_are_cut_at_sentences():
    found = texts(SENTENCE * 7)
    assert found == [(SENTENCE * 2).strip()] * 3 + [SENTENCE.strip()]


def test_a_paragraph_is_cut_rather_than_leave_its_heading_alone():
    found = texts("# A heading\n\n" + SENTENCE.strip() + " " + SENTENCE * 2, size=43)
    assert found[0].startswith("# A heading\n\nThe quick")


def test_a_sentence_too_long_is_cut_at_blanks_and_a_word_too_long_anywhere():
    found = texts("word " * 100, 40)
    assert all(set(text.split()) == {"word"} for text in found)
    assert "".join(texts("x1y2" * 100, 40)) == "x1y2" * 100


def test_lines_of_a_log_are_kept_together():
    log = "\n".join(f"2024-01-{day:02} worker started with id {day * 7919}" for day in range(1, 29))
    assert all(text.startswith("2024-01-") for text in texts(log, 100, 0, "plain"))


FENCE = "```python\n" + "\n".join(f"value_{n} = compute({n})" for n in range(12)) + "\n```"


def test_a_code_block_is_never_cut_and_larger_ones_are_passages_of_their_own():
    assert 40 < count(FENCE) <= 40 * MAX_CODE_CHUNKS
    found = passages(f"# A\n\nBefore.\n\n{FENCE}\n\nAfter.", 40, 10)
    assert [row.text for row in found] == ["# A\n\nBefore.", FENCE, "After."]
    assert found[1].tokens > 40


def test_a_huge_code_block_is_cut_between_lines_and_its_parts_say_so():
    lines = [f"value_{n} = compute({n})" for n in range(100)]
    fence = "```\n" + "\n".join(lines) + "\n```"
    found = passages(f"{fence}\n\n# B\n\n```\nshort = 1\n```")
    assert len(found) > 5
    cut = [row for row in found if row.content_type == "code_part"]
    assert [line for row in cut for line in row.text.split("\n")] == ["```", *lines, "```"]
    assert [row.content_type for row in found if row not in cut] == ["code"]


def test_a_code_block_that_fits_the_embedders_window_is_not_cut():
    fence = "```\n" + "\n".join(f"value_{n} = compute({n})" for n in range(100)) + "\n```"
    parsed = Parsed(f"# Code\n\n{fence}", "markdown")
    tokens = count(fence)

    def cut(window: int) -> list[str]:
        made = structure_chunks(parsed, sections(parsed), size=40, overlap=0, tokenizer=TOKENIZER, window=window)
        return [row.content_type for row in made if row.level is ChunkLevel.CHUNK]

    assert tokens > 40 * MAX_CODE_CHUNKS
    assert cut(tokens)[-1] == "code"
    assert "code_part" not in cut(tokens)
    assert set(cut(tokens - 1)) == {"code_part"}


def test_hashes_in_code_do_not_cut():
    assert texts("```\n# no heading\n\n- no list\n```") == ["```\n# no heading\n\n- no list\n```"]


TABLE_HEAD = "| Name | Price |\n|------|-------|"


def table(lines: int) -> str:
    return "\n".join([TABLE_HEAD, *(f"| item {n} | {n * 3} |" for n in range(lines))])


def test_tables_stay_whole_where_they_fit():
    found = passages(f"{SENTENCE * 2}\n\n{table(3)}\n\nAfter.", 45, 10)
    assert [table(3) in row.text for row in found].count(True) == 1
    assert all(row.header == "" for row in found)


def test_a_large_table_is_cut_between_rows_and_repeats_its_header():
    found = passages("Prices:\n\n" + table(30), 60, 0)
    assert found[0].text.startswith("Prices:\n\n" + TABLE_HEAD + "\n| item 0")
    assert found[0].header == ""
    assert len(found) > 3
    for row in found[1:]:
        assert row.header == TABLE_HEAD
        assert row.text.startswith("| item")
        assert count(row.header + "\n" + row.text) <= 60
    rows_seen = [line for row in found for line in row.text.split("\n") if line.startswith("| item")]
    assert rows_seen == table(30).split("\n")[2:]


def test_parts_of_a_table_share_rows():
    found = passages(table(30), 60, 15)
    for left, right in pairwise(found):
        assert right.text.split("\n")[0] in left.text.split("\n")


def test_a_header_that_would_fill_the_passage_is_not_repeated():
    wide = "| " + " | ".join(f"column number {n}" for n in range(10)) + " |"
    text = "\n".join([wide, "|" + "---|" * 10, *("| " + " | ".join("x" * 10) + " |" for _ in range(10))])
    found = passages(text, 60)
    assert all(row.tokens <= 60 and row.header == "" for row in found)


def test_list_items_stay_whole():
    items = [f"- Item {n}: {SENTENCE.strip()}\n  It goes on here." for n in range(6)]
    assert texts("\n".join(items), 60, 20) == ["\n".join(pair) for pair in zip(items[::2], items[1::2], strict=True)]


def test_nested_items_stay_with_theirs():
    items = [f"- Outer {n}\n  - inner one of {n}\n  - inner two of {n}" for n in range(8)]
    for text in texts("\n".join(items), 40, 10):
        assert text.startswith("- Outer")
        assert text.split("\n")[-1].startswith("  - inner two")


def test_an_item_too_large_is_cut_at_sentences():
    found = texts("- " + SENTENCE * 6 + "\n- next")
    assert found[0].startswith("- The quick")
    assert all(text.removeprefix("- ").startswith("The quick") for text in found)


def test_code_in_an_item_too_large_is_not_cut():
    code = "\n".join("  " + line for line in FENCE.split("\n"))
    found = passages(f"- {SENTENCE * 3}\n\n{code}\n\n  After it.", 40, 10)
    assert (code.strip(), "code") in [(row.text, row.content_type) for row in found]
    assert found[-1].content_type == "list"


# Overlap


def test_a_passage_begins_with_the_last_sentences_of_the_one_before():
    text = " ".join(f"This is sentence number {n}." for n in range(40))
    found = passages(text, 40, 12)
    for left, right in pairwise(found):
        shared = text[right.start : left.end]
        assert shared.startswith("This is sentence")
        assert 6 <= count(shared) <= 12


def test_long_sentences_share_words():
    text = "alpha beta gamma delta " * 60
    for left, right in pairwise(passages(text, 40, 12)):
        assert 8 <= count(text[right.start : left.end]) <= 12
        assert text[right.start - 1] == " "


@pytest.mark.parametrize("size", range(25, 60, 4))
@pytest.mark.parametrize(
    "block", [FENCE, FENCE * 6, table(40), "- " + SENTENCE * 8, f"- {SENTENCE * 3}\n  - {SENTENCE}"]
)
def test_no_passage_that_goes_on_after_a_block_begins_inside_it(block: str, size: int):
    block = block.strip()
    found = passages(f"{block}\n\nShort.\n\n{SENTENCE * 3}", size, 15)
    for left, right in pairwise(found):
        if right.start < len(block):
            assert left.end < len(block)


def test_overlap_is_at_most_half_a_passage():
    text = "word " * 400
    for left, right in pairwise(passages(text, 40, 4000)):
        assert 15 <= count(text[right.start : left.end]) <= 20


def test_sections_share_nothing():
    found = passages("# A\n\n" + SENTENCE * 4 + "\n\n# B\n\n" + SENTENCE * 4, 40, 15)
    first_of_b = next(row for row in found if row.heading_path == ("B",))
    assert first_of_b.text.startswith("# B")


# Size and time


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["x" * 600_000, "word " * 60_000, "Short one. " * 15_000, "- " + "a b " * 50_000, "|a" * 50_000],
    ids=["letters", "words", "sentences", "item", "pipes"],
)
def test_one_endless_line_takes_bounded_time(text: str):
    started = time.process_time()
    found = passages(text, 500, 50)
    assert time.process_time() - started < 8
    assert all(row.tokens <= 500 for row in found)


@pytest.mark.parametrize("size", range(30, 50))
def test_passages_are_never_too_large_even_where_the_counts_of_parts_do_not_add_up(size: int):
    class Awkward(Tokenizer):
        def count(self, text: str) -> int:
            return super().count(text) + 4 * text.strip().count("\n\n")

    parsed = Parsed("\n\n".join([(SENTENCE * 2).strip(), "Short one.", SENTENCE.strip()] * 9), "plain")
    found = structure_chunks(parsed, sections(parsed), size=size, overlap=12, tokenizer=Awkward())
    assert all(Awkward().count(row.text) <= size for row in found if row.level is ChunkLevel.CHUNK)


# Invariants over generated documents

WORDS = st.lists(
    st.sampled_from(
        ["fox", "Größe", "日本", "e.g.", "3.5", "z. B.", "end.", "Why?", "😀", "a\u00a0b", "x" * 60, "*it*"]
    ),
    min_size=1,
    max_size=40,
).map(" ".join)


@dataclass
class Draft:
    """A document under construction, and the spans that no passage may be cut through."""

    text: str = ""
    fences: list[tuple[int, int]] = field(default_factory=list)
    tables: list[tuple[int, int]] = field(default_factory=list)
    items: list[tuple[int, int]] = field(default_factory=list)

    def add(self, block: str, spans: list[tuple[int, int]] | None = None) -> None:
        if spans is not None:
            spans.append((len(self.text), len(self.text) + len(block)))
        self.text += block


@st.composite
def documents(draw: st.DrawFn) -> Draft:
    draft = Draft()
    for kind in draw(st.lists(st.sampled_from(["heading", "prose", "fence", "table", "list", "quote"]), max_size=10)):
        if kind == "heading":
            draft.add("#" * draw(st.integers(1, 6)) + " " + draw(st.sampled_from(["One", "Zwei `x`", "日"])))
        elif kind == "fence":
            lines = draw(st.lists(st.sampled_from(["# no", "| a |", "", "- x", "code(1)", "=== x"]), max_size=20))
            draft.add("\n".join(["```py", *lines, "end()", "```"]), draft.fences)
        elif kind == "table":
            cells = draw(
                st.lists(st.sampled_from(["| a | b. C |", "| 1 | 2 |", "| " + "long " * 8 + "| x |"]), max_size=12)
            )
            draft.add("\n".join(["| h | i |", "|---|---|", *cells]), draft.tables)
        elif kind == "list":
            for number in range(draw(st.integers(1, 4))):
                nested = draw(st.sampled_from(["", "\n  - nested", "\n  wrapped line", "\n\n  Second paragraph."]))
                draft.add(f"- item {number} " + draw(WORDS) + nested, draft.items)
                draft.add("\n")
        else:
            words = draw(WORDS)
            draft.add("> " + words.replace(". ", ".\n> ") if kind == "quote" else words)
        draft.add("\n\n" + "\n" * draw(st.integers(0, 2)))
    return draft


def check_rows(text: str, found: list[Chunk], size: int, overlap: int) -> None:
    """Check the invariants of the chunks of any text."""
    seen = bytearray(len(text))
    by_ordinal = {row.ordinal: row for row in found}
    assert len(by_ordinal) == len(found)
    for row in found:
        assert text[row.start : row.end] == row.text == row.text.strip() != ""
        assert row.start_line == text.count("\n", 0, row.start) + 1
        assert row.end_line == text.count("\n", 0, row.end - 1) + 1
        assert row.tokens == count(row.text)
        if row.parent is not None:
            parent = by_ordinal[row.parent]
            assert parent.level == row.level - 1
            assert parent.start <= row.start < row.end <= parent.end
        if row.level is ChunkLevel.CHUNK:
            assert row.heading_path == by_ordinal[row.parent or 0].heading_path
            lines = row.text.split("\n")
            headings = lines[: next((n for n, line in enumerate(lines) if line and line[0] != "#"), len(lines))]
            most = size * MAX_CODE_CHUNKS if row.content_type == "code" else size
            assert row.tokens <= most + count("\n".join(headings))
            if not row.content_type.startswith("code"):  # whose comments look like headings
                assert len(headings) < len(lines) or parent.text == row.text  # unless the section is headings alone
            seen[row.start : row.end] = b"\1" * len(row.text)
    assert all(covered or char.isspace() for char, covered in zip(text, seen, strict=True))
    for left, right in pairwise(row for row in found if row.level is ChunkLevel.CHUNK):
        assert left.start < right.start
        assert left.end < right.end
        if left.parent == right.parent and right.start < left.end:
            assert count(text[right.start : left.end]) <= overlap
            assert not text[right.start - 1].isalnum() or not text[right.start].isalnum()
        else:
            assert right.start >= left.end


@pytest.mark.slow
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(documents(), st.integers(20, 80), st.integers(0, 30))
def test_no_document_breaks_the_rules(draft: Draft, size: int, overlap: int):
    text = draft.text
    found = rows(text, size, overlap)
    check_rows(text, found, size, overlap)
    for spans, limit in ((draft.fences, size * MAX_CODE_CHUNKS), (draft.tables, size), (draft.items, size)):
        for start, end in spans:
            if count(text[start:end].strip()) <= limit:
                end = start + len(text[start:end].rstrip())
                cuts = [at for row in found if row.level is ChunkLevel.CHUNK for at in (row.start, row.end)]
                assert not [at for at in cuts if start < at < end]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "# H",
                "- a",
                "  - b",
                "1. c",
                "> q",
                "```",
                "~~~",
                "| a |",
                "|---|",
                "    x",
                "",
                "word " * 15,
                "S. " * 9,
                "===",
                "[r]: /u",
                "<div>",
                "\u3000z\u2028",
                "\fy",
            ]
        )
    ),
    st.sampled_from(["\n", "\r\n", "\r", " \t\n"]),
    st.sampled_from(["markdown", "plain"]),
    st.integers(20, 40),
)
def test_no_random_text_breaks_the_rules(lines: list[str], line_end: str, markup: str, size: int):
    text = normalise(line_end.join(lines))
    check_rows(text, rows(text, size, 8, markup), size, 8)
