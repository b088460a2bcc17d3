import pytest

from pincite.query.understand.standalone.ellipsis import is_time, replace_part
from pincite.query.understand.standalone.noun_phrases import simple_phrases


@pytest.mark.parametrize(
    ("before", "part", "language", "whole"),
    [
        ("What was the revenue of Nordwind in 2022?", "2023", "en", "What was the revenue of Nordwind in 2023?"),
        ("Who leads Helios?", "2023", "en", "Who leads Helios in 2023?"),
        ("Who leads room 12?", "7", "en", None),
        ("What is the price of the Basic plan?", "the Premium plan", "en", "What is the price of the Premium plan?"),
        ("What is the price of the Basic plan?", "the costs", "en", "What are the costs of the Basic plan?"),
        ("What is Helios's budget?", "the costs", "en", "What are Helios's costs?"),
        ("Are contractors covered by the insurance?", "interns", "en", "Are interns covered by the insurance?"),
        ("Where are the suppliers based?", "aluminium", "en", None),
        ("Is the shop open today?", "tomorrow", "en", "Is the shop open tomorrow?"),
        ("Does the dog chase the cat?", "the mouse", "en", None),  # two slots are as likely
        ("when does wayfarer go live in bremen?", "kassel", "en", None),  # no capitals tell names from verbs
        ("Who leads Helios?", "whatever, really", "en", None),
        ("Wie hoch ist das Budget von Helios?", "die Kosten", "de", "Wie hoch sind die Kosten von Helios?"),
        ("Was hat der Rat am 3. Juni beschlossen?", "am 9. Juli", "de", "Was hat der Rat am 9. Juli beschlossen?"),
        ("Wann fällt der Kurs aus?", "im Winter", "de", "Wann fällt der Kurs im Winter aus?"),
        (
            "Wie groß ist das Budget der Abteilung Einkauf?",
            "die Abteilung Vertrieb",
            "de",
            "Wie groß ist das Budget der Abteilung Vertrieb?",
        ),
        ("Wer bucht den Flug?", "der Zug", "de", None),  # another case
    ],
)
def test_the_part_takes_the_place_of_the_slot_it_fits(before: str, part: str, language: str, whole: str | None) -> None:
    assert replace_part(part, [before], language) == whole


def test_a_preposition_is_looked_for_in_the_question_before_the_last_too() -> None:
    before = ["How long does it take to get a visa?", "Which documents do I need for a visa?"]
    assert replace_part("for a permit", before, "en") == "Which documents do I need for a permit?"
    assert replace_part("in March", before, "en") == "How long does it take to get a visa in March?"


def test_dates_and_periods_are_times() -> None:
    assert all(is_time(one, "en") for one in simple_phrases("in March 2024, on 4 May, per night", "en"))
    assert not any(is_time(one, "de") for one in simple_phrases("Was kostet der Abend?", "de"))
