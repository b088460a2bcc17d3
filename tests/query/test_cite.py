import pytest

from pincite.query.cite import normalise_marks
from tests.builders import hit

SOURCES = [
    hit("a", key=1, title="Leave Policy"),
    hit("b", key=2, title="Travel Guide"),
    hit("c", key=3, title="Leave Form"),
]


@pytest.mark.parametrize(
    ("text", "shown", "sources"),
    [
        ("x [source 1].", "x [Source 1].", [1]),
        ("x [1][2]", "x [Source 1][Source 2]", [1, 2]),
        ("x [1, 2]", "x [Source 1] [Source 2]", [1, 2]),
        ("x [Sources 1 and 3]", "x [Source 1] [Source 3]", [1, 3]),
        ("x [Quelle 2]", "x [Source 2]", [2]),
        ("x [Source 9]", "x [Source 9]", [None]),
        ("x [Travel Guide]", "x [Travel Guide]", [2]),
        ("x [travel guide > Trains]", "x [travel guide > Trains]", [2]),
        ("x [Travel]", "x [Travel]", [2]),
        ("x [Travell Giude]", "x [Travell Giude]", [2]),
        ("x [Leave]", "x [Leave]", [None]),
        ("x [Tax Code]", "x [Tax Code]", [None]),
    ],
)
def test_forms(text: str, shown: str, sources: list[int | None]) -> None:
    normalised, marks = normalise_marks(text, SOURCES)
    assert normalised == shown
    assert [mark.source for mark in marks] == sources
    assert all(normalised[mark.start : mark.end] == mark.text for mark in marks)


@pytest.mark.parametrize(
    ("text", "how"),
    [("[2]", "number"), ("[Travel Guide]", "title"), ("[Travel]", "contains"), ("[Travell Giude]", "similar")],
)
def test_how_a_mark_was_matched(text: str, how: str) -> None:
    assert normalise_marks(text, SOURCES)[1][0].matched_by == how


@pytest.mark.parametrize(
    "text",
    [
        "`a[1]`",
        "```\nx = y[1]\n```",
        "[link](http://example.org)",
        "[ref]: http://example.org",
        "- [x] done",
        "- [ ] open",
        "see [...]",
    ],
)
def test_brackets_that_are_no_citations(text: str) -> None:
    assert normalise_marks(text, SOURCES) == (text, [])
