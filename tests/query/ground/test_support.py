"""How far a passage supports a claim, by rules."""

import pytest

from pincite.query.ground.support import (
    MIN_SUPPORT,
    SupportVerdict,
    asks_reader,
    decide_by_cosine,
    decide_by_reader,
    decide_by_words,
    judge_claim,
    rank_passages,
)
from tests.builders import found

TEXT = """# Leave

Every employee has 30 days of leave. Unused days expire on 31 March.

- Carry-over needs the consent of Ilse Vantobel. It costs 1,250 francs.
"""


def verdict(claim: str) -> tuple[str, bool, str | None]:
    made = decide_by_words(judge_claim(claim, found(TEXT)))
    return TEXT[made.start : made.end], made.support >= MIN_SUPPORT, made.reason


def test_the_supporting_sentence_is_aligned() -> None:
    assert verdict("Unused days expire on 31 March.") == ("Unused days expire on 31 March.", True, None)
    assert verdict("Ilse Vantobel must give consent for carry-over")[0].startswith("Carry-over needs")


def test_a_claim_that_needs_two_sentences_gets_both() -> None:
    told = verdict("Employees have 30 days of leave and unused days expire on 31 March")
    assert told == ("Every employee has 30 days of leave. Unused days expire on 31 March.", True, None)


def test_a_sentence_is_quoted_rather_than_the_heading_that_has_its_words() -> None:
    text = "# Handbook\n\n## Fees\n\nThe fees are due in May. The fees are nine francs.\n\n## Parking\n\nParking costs nothing.\n"

    def quoted(claim: str) -> str:
        made = judge_claim(claim, found(text))
        return text[made.start : made.end]

    assert quoted("The fees are nine francs") == "The fees are nine francs."
    assert quoted("Fees of nine francs are asked") == "The fees are nine francs."
    assert quoted("Parking is free") == "Parking costs nothing."
    assert quoted("Handbook") == "Handbook"  # nothing else has the word


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("Every employee has 25 days of leave.", "says 25 days, the source says 30 days"),
        ("Every employee has 30 hours of leave.", "says 30 hours, the source says 30 days"),
        ("Unused days expire on 30 March.", "says 30 March, the source says 31 March"),
        ("Unused days never expire on 31 March.", "denies what the source says"),
        ("Carry-over needs the consent of Jonas Brückl.", "names Jonas Brückl, the source names Ilse Vantobel"),
        ("It costs 1,520 francs.", "says 1,520 francs, the source says 1,250 francs"),
        ("Every employee has 30 days of leave in Berlin.", "names Berlin, which the source does not"),
        ("The canteen opens at noon.", "the source says nothing of the kind"),
    ],
)
def test_an_unsupported_claim_has_a_reason(claim: str, reason: str) -> None:
    assert verdict(claim)[1:] == (False, reason)


@pytest.mark.parametrize(
    "claim",
    [
        "Every employee has thirty days of leave.",
        "Carry-over costs CHF 1250.",
        "Consent for carry-over is needed from Ilse Vantobel.",
        "On March 31, unused days expire.",
    ],
)
def test_the_same_in_another_form_is_supported(claim: str) -> None:
    assert verdict(claim)[1]


def test_the_cosine_decides_open_verdicts() -> None:
    claim, chunk = "Staff get a month of holidays, that is leave.", found(TEXT)
    made = judge_claim(claim, chunk)
    assert made.open
    assert (
        decide_by_cosine(made, claim, chunk, 0.9).support
        > MIN_SUPPORT
        > decide_by_cosine(made, claim, chunk, 0.1).support
    )


def test_passages_are_ranked_by_shared_words() -> None:
    chunks = [found("The canteen opens at noon."), found(TEXT), found("Leave is short.")]
    assert rank_passages("Unused days of leave expire", chunks) == [1, 2]


def test_the_reader_decides_what_words_and_rules_leave_open() -> None:
    verdict_so_far = SupportVerdict(0, 10, 0.8, 0.6, open=True)
    supported, denied = (decide_by_reader(verdict_so_far, probability) for probability in (0.5, 0.2))
    assert (supported.support, supported.reason, supported.open) == (0.5833, None, False)  # 1.4 x .5 / (1.4 x .5 + .5)
    assert (denied.support, denied.reason) == (0.2593, "the source does not say so")


def test_the_reader_decides_where_only_a_negation_or_other_words_speak_against_a_claim() -> None:
    chunk = found("The kitchen is not open on Sundays. It has 40 seats.")
    claim = "The kitchen is open on Sundays."
    by_rules = judge_claim(claim, chunk)
    assert by_rules.refuted
    assert by_rules.worded
    assert asks_reader(by_rules, claim, chunk)
    sure, unsure = decide_by_reader(by_rules, 0.9), decide_by_reader(by_rules, 0.1)
    assert (sure.refuted, sure.reason) == (False, None)
    assert (unsure.refuted, unsure.reason) == (True, by_rules.reason)
    other = judge_claim("The kitchen has 30 seats.", chunk)
    assert not asks_reader(other, "The kitchen has 30 seats.", chunk)


def test_the_reader_is_not_asked_where_rules_object_words_are_copied_or_numbers_agree() -> None:
    chunk = found("Dogs may not bark at night. It takes 3 hours.")
    assert asks_reader(SupportVerdict(0, 10, 0.9, 0.9), "At night dogs may bark.", chunk)
    assert asks_reader(SupportVerdict(0, 10, 0.3, 0.3, open=True), "It lasts 180 minutes.", chunk)
    assert not asks_reader(SupportVerdict(0, 10, 0.1, 0.9, "says otherwise", refuted=True), "Dogs may bark.", chunk)
    assert not asks_reader(SupportVerdict(0, 10, 1.0, 1.0), "Dogs may not bark at night.", chunk)
    assert not asks_reader(SupportVerdict(0, 10, 0.9, 0.9), "It takes 180 minutes.", chunk)


def test_a_claim_in_another_language_than_its_source_is_left_open() -> None:
    chunk = found("Dogs must stay outside the reading room at all times.")
    assert judge_claim("Im Lesesaal sind Hunde nicht erlaubt.", chunk).open
    assert not judge_claim("Penguins swim well.", chunk).open
