import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.core.documents.pages import Page, PageMark, pack

BOXES = st.tuples(*[st.integers(-50_000, 50_000).map(lambda edge: edge / 10)] * 4)
WHERE = st.one_of(st.fixed_dictionaries({"box": BOXES}), st.fixed_dictionaries({"ref": st.text(max_size=20)}))


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50), WHERE), max_size=8))
def test_unpacked_marks_equal_the_packed_marks(rows: list[tuple[int, int, dict[str, object]]]) -> None:
    marks, last = [], 0
    for gap, length, where in rows:
        marks.append(PageMark(last + gap, last + gap + length, **where))  # type: ignore[arg-type]
        last += gap + length
    assert Page(0, marks=pack(marks)).unpack_marks() == tuple(marks)


@pytest.mark.parametrize("marks", [(PageMark(5, 9), PageMark(8, 12)), (PageMark(5, 4),)])
def test_marks_that_overlap_or_run_backwards_are_refused(marks: tuple[PageMark, ...]) -> None:
    with pytest.raises(ValueError, match="starts before"):
        pack(marks)


def test_only_marks_in_a_span_are_unpacked() -> None:
    page = Page(0, marks=pack([PageMark(10 * n, 10 * n + 5, ref=str(n)) for n in range(100)]))
    assert [mark.ref for mark in page.unpack_marks(202, 231)] == ["20", "21", "22", "23"]
    assert page.unpack_marks(2000, 3000) == ()
