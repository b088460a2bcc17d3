"""Abbreviations with the long forms that a text gives them."""

import pytest

from pincite.text.wording.abbreviations import abbreviations_in, explained_in, shortened


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("Days sales outstanding (DSO) fell.", "dso", "days sales outstanding"),
        ("We report DSO (days sales outstanding).", "dso", "days sales outstanding"),
        ("Earnings before interest and taxes (EBIT) rose.", "ebit", "earnings before interest and taxes"),
        ("The research and development (R&D) budget", "r&d", "research and development"),
        ("Die Eigenkapitalrendite vor Steuern (EVS) stieg.", "evs", "eigenkapitalrendite vor steuern"),
    ],
)
def test_an_explained_abbreviation(text: str, short: str, long: str) -> None:
    assert abbreviations_in(text) == {short: long}


@pytest.mark.parametrize("text", ["He moved to Ohio (USA).", "The big dog (XYZ) barks.", "DSO fell (slightly)."])
def test_brackets_that_explain_nothing(text: str) -> None:
    assert abbreviations_in(text) == {}


def test_the_long_form_is_replaced_and_found() -> None:
    known = {"dso": "days sales outstanding", "r&d": "research and development"}
    assert shortened("What were Days  Sales Outstanding?", known) == "What were dso?"
    assert explained_in("Days sales\noutstanding fell.", known) == {"dso"}
    assert explained_in("Research and development grew.", known) == {"r", "d"}
