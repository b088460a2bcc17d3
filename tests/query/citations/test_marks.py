import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.query.citations.marks import cited_beyond, normalise_marks
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
        ("x [Source: 1]", "x [Source 1]", [1]),
        ("x [Sources: 1, 3]", "x [Source 1] [Source 3]", [1, 3]),
        ("x [1][2]", "x [Source 1][Source 2]", [1, 2]),
        ("x [1, 2]", "x [Source 1] [Source 2]", [1, 2]),
        ("x [Sources 1 and 3]", "x [Source 1] [Source 3]", [1, 3]),
        ("x [Source 1, 2]", "x [Source 1] [Source 2]", [1, 2]),
        ("x [Sources 1, 2, 3]", "x [Source 1] [Source 2] [Source 3]", [1, 2, 3]),
        ("x [source 1, source 3]", "x [Source 1] [Source 3]", [1, 3]),
        ("x [Quelle 2, 3]", "x [Source 2] [Source 3]", [2, 3]),
        ("x [Source 1: 2023 report]", "x [Source 1]", [1]),
        ("x [Quelle 2]", "x [Source 2]", [2]),
        ("x [1-3]", "x [Source 1] [Source 2] [Source 3]", [1, 2, 3]),
        ("x [Sources 1 to 2, 3]", "x [Source 1] [Source 2] [Source 3]", [1, 2, 3]),
        ("x [Quellen 1 und 2]", "x [Source 1] [Source 2]", [1, 2]),
        ("x (Source 1)", "x [Source 1]", [1]),
        ("x (Quelle 2)", "x [Source 2]", [2]),
        ("x 【1】", "x [Source 1]", [1]),
        ("x[^2].", "x[Source 2].", [2]),
        ("x [Source 1: Leave Policy]", "x [Source 1]", [1]),
        ("x [Source 2, page 4]", "x [Source 2]", [2]),
        ("[Source 1]: it says so", "[Source 1]: it says so", [1]),
        ("x [Source: doc2.md page=3 score=0.8]", "x [Source: doc2.md page=3 score=0.8]", [2]),
        ("x 【Travel Guide】", "x 【Travel Guide】", [2]),
        ("x [Source 9]", "x [Source 9]", [None]),
        ("x [Travel Guide]", "x [Travel Guide]", [2]),
        ("x [travel guide > Trains]", "x [travel guide > Trains]", [2]),
        ("x [Leave Policy; Travel Guide]", "x [Leave Policy] [Travel Guide]", [1, 2]),
        ("x [Leave Form, travel guide and Leave Policy]", "x [Leave Form] [travel guide] [Leave Policy]", [3, 2, 1]),
        ("x 【Leave Policy & Travel Guide】", "x [Leave Policy] [Travel Guide]", [1, 2]),
        ("x [Leave Policy; Tax Code]", "x [Leave Policy; Tax Code]", [1]),
        ("x [Leave Policy, page 3]", "x [Leave Policy, page 3]", [1]),
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


@pytest.mark.parametrize("mark", ["[ISO 9001 – Scope]", "[iso 9001 ‑ scope]", "[Don’t Panic: A “Guide”]"])
def test_dashes_and_quotation_marks_of_a_title_may_have_another_form(mark: str) -> None:
    sources = [hit("a", key=1, title="ISO 9001 - Scope"), hit("b", key=2, title='Don\'t Panic: A "Guide"')]
    [found] = normalise_marks(f"x {mark}", [hit("c", key=3, title="It"), *sources])[1]
    assert (found.source, found.matched_by) == (3 if "Panic" in mark else 2, "title")


@pytest.mark.parametrize(
    "text",
    [
        "`a[1]`",
        "```\nx = y[1]\n```",
        "[link](http://example.org)",
        "[ref]: http://example.org",
        "- [x] done",
        "- [ ] open",
        "![1](http://example.org/a.png)",
        "![Travel Guide]",
        "[^1]: a footnote",
        "text\n[1]: set out below",
        "between [0, 1] and [3-1]",
        "[1-300]",
        "[1990-1995]",
        "[[Travel Guide]]",
        "(see below)",
        "see [...]",
    ],
)
def test_brackets_that_are_no_citations(text: str) -> None:
    assert normalise_marks(text, SOURCES) == (text, [])


SHORT = [
    hit("a", key=1, title="Q4 2023"),
    hit("b", key=2, title="S3", document_name="s3.md"),
    hit("c", key=3, title="2023"),
    hit("d", key=4, title="C"),
    hit("e", key=5, title="b2.md", document_name="b2.md"),
]


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        ("x [Q4 2023]", [1]),
        ("x [q4 2023 > May]", [1]),
        ("x [s3]", [2]),
        ("x [Q4]", []),
        ("x [2023]", []),
        ("x [C]", []),
    ],
)
def test_a_title_without_two_letters_in_a_row_is_a_citation(text: str, sources: list[int]) -> None:
    assert [mark.source for mark in normalise_marks(text, SHORT)[1]] == sources


SECTIONS = [
    hit("a", key=1, title="Leave Policy", document_id="leave", heading_path=("Leave Policy",)),
    hit("b", key=2, title="Leave Policy", document_id="leave", heading_path=("Leave Policy", "Carry-over")),
    hit("c", key=3, title="Leave Policy", document_id="leave", heading_path=("Leave Policy", "Carry-over", "Limits")),
    hit("d", key=4, title="Leave Policy", document_id="leave", heading_path=("Leave Policy", "Sick leave", "Limits")),
    hit("e", key=5, title="Leave Policy", document_id="other", heading_path=("Leave Policy", "Notice")),
    hit("f", key=6, title="Boats > Fees", document_id="boats", heading_path=("Boats > Fees", "Mooring")),
    hit("g", key=7, title="Boats > Fees", document_id="boats", heading_path=("Boats > Fees", "Mooring")),
]


@pytest.mark.parametrize(
    ("text", "title", "section", "fitting", "has_section"),
    [
        ("[Leave Policy > Carry-over]", "Leave Policy", "Carry-over", (2,), True),
        ("[leave policy > carry over]", "leave policy", "carry over", (2,), True),
        ("[Leave Policy › Carry-over › Limits]", "Leave Policy", "Carry-over > Limits", (3,), True),
        ("[Leave Policy > Limits, page 3]", "Leave Policy", "Limits", (3, 4), True),
        ("[Leave Policy > Sick leave]", "Leave Policy", "Sick leave", (4,), True),
        ("[Leave Policy > Notice]", "Leave Policy", "Notice", (5,), True),
        ("[Leave > Notice]", "Leave", "Notice", (5,), True),
        ("[Leave Policy]", "Leave Policy", None, (), True),
        ("[Leave Policy > Pay]", "Leave Policy", "Pay", (), True),
        ("[Boats > Fees]", "Boats > Fees", None, (6, 7), True),
        ("[Boats > Fees > Mooring]", "Boats > Fees", "Mooring", (6, 7), True),
        ("[Boats > Fees > Sails]", "Boats > Fees", "Sails", (6, 7), False),
        ("[Moon > Dark side]", "Moon", "Dark side", (), True),
    ],
)
def test_a_section_narrows_the_sources_of_a_title(
    text: str, title: str, section: str | None, fitting: tuple[int, ...], has_section: bool
) -> None:
    [mark] = normalise_marks(text, SECTIONS)[1]
    assert (mark.title, mark.section, mark.fitting, mark.has_section) == (title, section, fitting, has_section)
    assert mark.source == (fitting[0] if fitting else None)


def test_a_mark_may_name_sections_of_several_documents() -> None:
    shown, marks = normalise_marks("x [Leave Policy > Notice; Boats > Fees > Mooring]", SECTIONS)
    assert shown == "x [Leave Policy > Notice] [Boats > Fees > Mooring]"
    assert [(mark.title, mark.section, mark.fitting) for mark in marks] == [
        ("Leave Policy", "Notice", (5,)), ("Boats > Fees", "Mooring", (6, 7)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x [Travel Guide]", [2]),
        ("x [Leave Policy] y [Travel Guide] z [Moon]", [2]),
        ("x [Leave]", []),  # the passage shown matches
        ("x [Leave Policy; Travel Guide]", []),
        ("x [Source 2]", []),  # a number is that of a passage shown
        ("x [Leave Policy > Approval]", []),
        ("x [Travel Guide > Trains] y [Travel Guide]", [2]),
    ],
)
def test_a_title_or_section_that_no_passage_shown_has_is_found_among_the_others(text: str, found: list[int]) -> None:
    assert [one.chunk.key for one in cited_beyond(text, SOURCES[:1], SOURCES)] == found


PARTS = st.sampled_from(
    [
        "[",
        "]",
        "(",
        ")",
        "【",
        "】",
        "^",
        "Source ",
        "Quellen ",
        "1",
        "2",
        "99",
        "-",
        ", ",
        " and ",
        "Leave",
        "Travel Guide",
        "`",
        "```",
        "\n",
        ": ",
        "!",
        "x",
        " ",
        "http://e",
        "ü",
        "🏖",
    ]
)


@given(st.lists(PARTS, max_size=30).map("".join))
def test_marks_have_exact_offsets_and_existing_sources(text: str) -> None:
    shown, marks = normalise_marks(text, SOURCES)
    assert all(shown[mark.start : mark.end] == mark.text for mark in marks)
    assert all((mark.source is None) == (mark.matched_by is None) for mark in marks)
    assert all(mark.source is None or 1 <= mark.source <= len(SOURCES) for mark in marks)
    assert [mark.start for mark in marks] == sorted(mark.start for mark in marks)
    assert normalise_marks(shown, SOURCES)[0] == shown


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("x [Leave Policy].", [("Leave Policy", "title", 1)]),
        ("x [2].", [("2", None, None)]),
        ("x [Source 2].", [("Source 2", None, None)]),
        ("x [Source 3: Travel Guide].", [("Travel Guide", "title", 2)]),
        ("x [On Source 3: Travel Guide].", [("On Source 3: Travel Guide", "contains", 2)]),
        ("x [Travel\nGuide].", [("Travel Guide", "title", 2)]),
        ("x [D4] [Q7] [2a] [p. 3]", [("D4", None, None), ("Q7", None, None), ("2a", None, None), ("p. 3", None, None)]),
        ("x [a] [ ] [x] [2024] [12.5] [...] `[D4]` [D4](https://a.example)", []),
    ],
)
def test_where_titles_are_cited_each_mark_names_a_title_and_stays_as_it_is(
    text: str, marks: list[tuple[str, str | None, int | None]]
) -> None:
    shown, found = normalise_marks(text, SOURCES, titled=True)
    assert shown == text
    assert [(one.title, one.matched_by, one.source) for one in found] == marks
    assert [shown[one.start : one.end] for one in found] == [one.text for one in found]


def test_a_document_titled_as_a_number_is_cited_by_it_only_where_titles_are_cited() -> None:
    sources = [hit("a", key=1, title="Leave Policy"), hit("b", key=2, title="Source 1"), hit("c", key=3, title="2024")]
    assert [one.source for one in normalise_marks("x [Source 1]", sources)[1]] == [1]
    assert [one.source for one in normalise_marks("x [Source 1] [2024]", sources, titled=True)[1]] == [2, 3]
