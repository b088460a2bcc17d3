from pincite.extract.wording import plain


def test_markup_footnotes_and_line_ends_are_left_out() -> None:
    assert plain("Every **employee** has\n> `30` days, see [the form](http://example.org/f). [3]") == (
        "Every employee has 30 days, see the form."
    )
    assert plain("2 * 3 is *six*") == "2 * 3 is six"
