"""Claims on rows of tables: the row that the question is about, and the column that a number is in."""

import pytest

from pincite.query.ground.rows import rows_asked_about, rows_of
from pincite.query.ground.support import MIN_SUPPORT, SupportVerdict, decide_by_words, judge_claim
from tests.builders import found

ERRORS = found(
    "The dome reports these errors:\n\n| Code | Meaning | What to do |\n|---|---|---|\n"
    "| E-11 | Shutter jammed | Close and open once; never push by hand |\n"
    "| E-14 | Battery low | Charge the battery for four hours |\n"
    "| E-19 | Wind sensor lost | Park the telescope |\n"
)
NIGHTS = found(
    "| Month | Usable nights | Visitors | Rain (mm) | Ticket (EUR) |\n|---|---|---|---|---|\n"
    "| September | 14 | 203 | 61 | 12 |\n| October | 19 | 151 | 88 | 14 |\n| November | 9 | 151 | 120 | 14 |\n"
)
ASKED = "What should I do when error E-14 appears?"


def verdict(claim: str, question: str, chunk: object = ERRORS) -> SupportVerdict:
    return decide_by_words(judge_claim(claim, chunk, question))  # type: ignore[arg-type]


def test_a_claim_from_the_row_of_another_code_is_refuted() -> None:
    made = verdict("Close and open once; never push by hand.", ASKED)
    assert (made.support <= 0.1, made.refuted) == (True, True)
    assert made.reason == "is about E-11, the question is about E-14"


def test_a_claim_from_the_row_asked_about_is_supported_and_quoted() -> None:
    made = verdict("Charge the battery for four hours.", ASKED)
    assert made.support >= MIN_SUPPORT
    assert ERRORS.text[made.start : made.end].startswith("| E-14 |")


def test_a_claim_that_names_its_row_is_judged_by_that_row() -> None:
    assert verdict("With E-11, close and open once; never push by hand.", ASKED).support >= MIN_SUPPORT
    assert verdict("Close and open once; never push by hand.", "").support >= MIN_SUPPORT  # nothing is asked


def test_a_code_that_no_row_has() -> None:
    made = verdict("Park the telescope.", "What should I do when error E-77 appears?")
    assert made.reason == "is about E-19, the question is about E-77"


def test_a_number_has_its_meaning_from_the_name_of_the_column() -> None:
    asked = "How many usable nights were there in October?"
    made = verdict("19 nights", asked, NIGHTS)
    assert made.support >= MIN_SUPPORT
    assert NIGHTS.text[made.start : made.end].startswith("| October |")
    assert verdict("There were 19 usable nights in October.", asked, NIGHTS).support >= MIN_SUPPORT


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("9 nights", "is about November, the question is about October"),
        ("14 nights", "says 14, the column “Usable nights” says 19"),
        ("There were 151 nights.", "says 151, the column “Usable nights” says 19"),
        ("In October it rained 88 cm.", "says 88 cm, the column is “Rain (mm)”"),
        ("In October a ticket cost $14.", "says $14, the column is “Ticket (EUR)”"),
    ],
)
def test_a_number_of_another_row_column_or_unit(claim: str, reason: str) -> None:
    made = verdict(claim, "How was October?", NIGHTS)
    assert (made.reason, made.support < MIN_SUPPORT) == (reason, True)


@pytest.mark.parametrize("claim", ["In October it rained 88 mm.", "In October a ticket cost €14.", "151 visitors"])
def test_a_number_in_the_unit_of_its_column(claim: str) -> None:
    assert verdict(claim, "How was October?", NIGHTS).support >= MIN_SUPPORT


@pytest.mark.parametrize(
    ("question", "labels"),
    [
        ("How was October?", ["October"]),
        ("How were September and October?", ["September", "October"]),
        ("How was the year?", []),
        ("Were September, October and November wet?", []),
    ],
)
def test_the_rows_that_a_question_names(question: str, labels: list[str]) -> None:
    assert [row.label for row in rows_asked_about(question, rows_of(NIGHTS), "en")] == labels


def test_a_row_is_named_by_its_date_in_another_spelling() -> None:
    table = found("| Day | Guests |\n|---|---|\n| 2022-05-03 | 12 |\n| 2022-05-04 | 15 |\n")
    asked = "How many guests came on May 3, 2022?"
    assert [row.label for row in rows_asked_about(asked, rows_of(table), "en")] == ["2022-05-03"]
    assert verdict("15 guests", asked, table).reason == "is about 2022-05-04, the question is about 2022-05-03"


def test_a_heading_with_the_words_of_the_claim_does_not_hide_the_row() -> None:
    chunk = found(f"# Nights\n\nNights are counted by hand.\n\n{NIGHTS.text}")
    made = verdict("19 nights", "How many usable nights were there in October?", chunk)
    assert made.support >= MIN_SUPPORT
    assert chunk.text[made.start : made.end].startswith("| October |")
    assert verdict("Nights are counted by hand.", "", chunk).start == chunk.text.index("Nights are")
