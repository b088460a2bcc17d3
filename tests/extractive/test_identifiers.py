"""Identifiers: found in questions, told apart from amounts and dates, recognised in other spellings."""

import pytest

from pincite.extractive.identifiers import identifiers_in, mentions, names_another


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Which wavelength has the laser in E.114?", ("E.114",)),
        ("When was harbour 3.1.0 released?", ("3.1.0",)),
        ("What is the price of LX-210?", ("LX-210",)),
        ("Where is consignment 88-20417?", ("88-20417",)),
        ("Who approves a training for 1,200 euros?", ()),
        ("What was the revenue in FY2022 and in Q4?", ()),
        ("What weighs 5.5 kg on 12.03.2024?", ()),
        ("Is it the 3rd time?", ()),
    ],
)
def test_versions_codes_and_rooms_are_identifiers(question: str, found: tuple[str, ...]) -> None:
    assert identifiers_in(question, "en") == found


@pytest.mark.parametrize("text", ["room E.114", "room E 114", "E114.", "(e-114)"])
def test_an_identifier_is_recognised_however_it_is_separated(text: str) -> None:
    assert mentions(text, "E.114")


@pytest.mark.parametrize("text", ["room E.1140", "room E.119", "BE.114", "114"])
def test_a_part_of_another_identifier_is_not_it(text: str) -> None:
    assert not mentions(text, "E.114")
    assert not mentions("version 3.2.1", "3.2")


def test_another_identifier_of_the_same_form_is_told() -> None:
    assert names_another("Room: E.119; Laser: fibre", "E.114", "en")
    assert names_another("Release 3.2 was scheduled.", "3.3", "en")
    assert not names_another("Release 3.2, then 3.3.", "3.3", "en")
    assert not names_another("It costs 4.50 EUR.", "3.3", "en")
