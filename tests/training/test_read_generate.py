"""Text that a language model wrote for the reader: parsing of questions, checks of translations, joined examples."""

import random

import pytest

from training.read_generate import (
    PAIR,
    good_translation,
    joined,
    language_of,
    question_rows,
    translated_passage,
)

TEXT = "The pool opens at 9 on Sunday. Anna Keller keeps the keys of the house. A ticket costs 1,200 euros a year."
WRITTEN = (
    " When does the pool open on Sunday?\nA: at 9\n\nQ: Who keeps the keys of the house?\nA: Anna Keller\n"
    'Q: What does a ticket cost a year?\n\nA: "1,200 euros"\nQ: Who sings?\nA: nobody does\nQ: unfinished'
)
GERMAN = {
    "The pool opens at 9 on Sunday.": "Das Bad öffnet am Sonntag um 9.",
    "Anna Keller keeps the keys of the house.": "Anna Keller verwahrt die Schlüssel.",
    "A ticket costs 1,200 euros a year.": "Eine Karte kostet 1.200 Euro im Jahr.",
}


@pytest.fixture(autouse=True)
def fixed() -> None:
    random.seed(2)


def row(answer: str | None, question: str = "What does a ticket cost?") -> dict:
    span = (TEXT.index(answer), TEXT.index(answer) + len(answer)) if answer else None
    return {"q": question, "p": TEXT, "span": span, "language": "en", "answerable": int(span is not None)}


def test_written_questions_are_read_with_their_answers() -> None:
    assert PAIR.findall(WRITTEN) == [
        ("When does the pool open on Sunday?", "at 9"),
        ("Who keeps the keys of the house?", "Anna Keller"),
        ("What does a ticket cost a year?", '"1,200 euros"'),
        ("Who sings?", "nobody does"),
    ]


def test_only_answers_that_stand_in_the_passage_become_examples() -> None:
    item = {"text": TEXT, "language": "en", "source": "written", "page": 1, "written": WRITTEN, "title": ""}
    other = {"text": "The sauna is closed on Sunday.", "language": "en", "source": "written", "page": 2, "written": ""}
    made = question_rows([item, other])
    answered = {one["q"]: one["p"][slice(*one["span"])] for one in made if one["answerable"]}
    assert answered == {
        "When does the pool open on Sunday?": "at 9",
        "Who keeps the keys of the house?": "Anna Keller",
        "What does a ticket cost a year?": "1,200 euros",
    }
    for one in made:
        if not one["answerable"]:
            assert one["span"] is None
            assert one["q"] not in answered or answered[one["q"]] not in one["p"]


@pytest.mark.parametrize(
    ("text", "language"),
    [("Wann öffnet das Bad?", "de"), ("When does the pool open?", "en"), ("Wer ist der Leiter?", "de")],
)
def test_the_language_is_told_by_small_words(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("english", "german", "good"),
    [
        ("The pool opens at 9 on Sunday mornings.", "Das Bad öffnet am Sonntagmorgen um 9.", True),
        ("A ticket costs 1,200 euros.", "Eine Karte kostet 1.200 Euro.", True),
        ("The pool opens at 9 on Sunday mornings.", "Das Bad öffnet am Sonntagmorgen um 8.", False),
        ("The pool opens at 9 on Sunday mornings.", "The pool opens at 9 on Sunday mornings.", False),
        ("When does the pool open on Sundays?", "Das Bad öffnet am Sonntag um neun.", False),
        ("The pool opens at 9 on Sunday mornings.", "Um 9.", False),
        ("The pool opens at 9 on Sunday mornings.", "Das Bad öffnet\nam Sonntag um 9.", False),
    ],
)
def test_a_translation_has_the_same_numbers_and_a_like_length(english: str, german: str, good: bool) -> None:
    assert good_translation(english, german) is good


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [("9", "9"), ("Anna Keller", "Anna Keller"), ("1,200 euros", "1.200"), ("the keys of the house", None)],
)
def test_the_answer_is_found_again_in_the_translation(answer: str, wanted: str | None) -> None:
    found = translated_passage(row(answer), GERMAN)
    assert found is not None
    text, span = found
    assert text == " ".join(GERMAN.values())
    assert (text[slice(*span)] if span else None) == wanted


def test_a_passage_with_a_missing_translation_is_left_out() -> None:
    assert translated_passage(row("9"), dict(list(GERMAN.items())[:2])) is None


def test_the_question_the_passage_or_both_are_german() -> None:
    questions = {"What does a ticket cost?": "Was kostet eine Karte?"}
    made = [new for _ in range(30) for new in joined(row("1,200 euros"), questions, GERMAN)]
    german = " ".join(GERMAN.values())
    assert {(one["q"], one["p"]) for one in made} == {
        ("Was kostet eine Karte?", TEXT),
        ("Was kostet eine Karte?", german),
        ("What does a ticket cost?", german),
    }
    assert all(one["language"] == "de" for one in made)
    assert {one["p"][slice(*one["span"])] for one in made} == {"1,200 euros", "1.200"}
    assert joined(row(None, "Who?"), {}, {}) == []
