"""Headings → sections."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.core.documents.document import Parsed, Section
from pincite.ingest.chunk.sections import join_bare_headings, sections


def cut(text: str, title: str | None = None, body_start: int = 0) -> list[tuple[tuple[str, ...], int, str]]:
    parsed = Parsed(text, "markdown", title=title, body_start=body_start)
    return [(s.heading_path, s.depth, text[s.start : s.end]) for s in sections(parsed)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A\n\n## B\n\nText.\n", [(("A", "B"), "# A\n\n## B\n\nText.\n")]),
        ("# A\n\n## B\n\n### C\n\nText.\n", [(("A", "B", "C"), "# A\n\n## B\n\n### C\n\nText.\n")]),
        ("# A\n\nOne.\n\n# B\n\n# C\n\nTwo.\n", [(("A",), "# A\n\nOne.\n\n"), (("C",), "# B\n\n# C\n\nTwo.\n")]),
        ("# A\n\nOne.\n\n## End\n", [(("A",), "# A\n\nOne.\n\n## End\n")]),
        ("# A\n\n## B\n", [(("A", "B"), "# A\n\n## B\n")]),
        ("Plain text.\n", [(("Document",), "Plain text.\n")]),
    ],
)
def test_a_heading_without_text_leads_the_next_section(text: str, expected: list[tuple[tuple[str, ...], str]]) -> None:
    found = join_bare_headings(sections(Parsed(text, "markdown")))
    assert [(one.heading_path, text[one.start : one.end]) for one in found] == expected


def test_paths_follow_the_heading_tree():
    text = "# A\na\n## B\nb\n### C\n## D\nd\n# E\n"
    assert cut(text) == [
        (("A",), 1, "# A\na\n"),
        (("A", "B"), 2, "## B\nb\n"),
        (("A", "B", "C"), 3, "### C\n"),
        (("A", "D"), 2, "## D\nd\n"),
        (("E",), 1, "# E\n"),
    ]


def test_skipped_levels_and_all_six():
    assert [path for path, _, _ in cut("# A\n\n#### D\n\n## B\n\n###### F\n")] == [
        ("A",),
        ("A", "D"),
        ("A", "B"),
        ("A", "B", "F"),
    ]


def test_underlined_headings_count():
    assert [(path, depth) for path, depth, _ in cut("A\n===\n\nx\n\nB\n---\ny\n")] == [(("A",), 1), (("A", "B"), 2)]


def test_text_before_the_first_heading_stands_under_the_title():
    assert cut("intro\n\n# A\n", title="T") == [(("T",), 0, "intro\n\n"), (("A",), 1, "# A\n")]
    assert cut("intro\n\n# A\n")[0][0] == ()


def test_text_before_the_heading_that_is_the_title_is_not_under_it():
    text = "intro\n\n# A\n\nx\n\n## B\n\ny\n"
    assert [path for path, _, _ in cut(text, title="A")] == [(), ("A",), ("A", "B")]


def test_a_text_without_headings_is_one_section():
    assert cut("just text\n", title="T") == [(("Document",), 0, "just text\n")]
    assert sections(Parsed("# no heading\n", "plain")) == [Section(("Document",), 0, 0, 13)]


def test_hashes_inside_other_things_are_no_headings():
    text = "# A\n```\n# x\n```\n> # y\n\n- # z\n\n<div>\n# w\n</div>\n"
    assert len(cut(text)) == 1


def test_a_heading_without_words_adds_nothing_to_the_path():
    assert [path for path, _, _ in cut("# A\n\n##\n\n### C\n")] == [("A",), ("A",), ("A", "C")]


def test_front_matter_is_outside():
    text = "---\ntitle: x\n---\n\n# A\n"
    assert cut(text, body_start=17) == [(("A",), 1, "\n# A\n")]


@settings(max_examples=80)
@given(st.lists(st.sampled_from(["# A", "## B", "#", "x", "", "```", "- # i", "> q", "T\n===", "   ## C", "\t# no"])))
def test_sections_tile_the_body(lines: list[str]):
    text = "\n".join(["---", "---", *lines])
    found = sections(Parsed(text, "markdown", body_start=min(8, len(text))))
    assert found[0].start == min(8, len(text))
    assert found[-1].end == len(text)
    assert all(left.end == right.start for left, right in pairwise(found))
