"""Text that a language model wrote for the reader: parsing of questions and the examples made of them."""

import random

import pytest

from training.read_generate import PAIR, question_rows

TEXT = "The pool opens at 9 on Sunday. Anna Keller keeps the keys of the house. A ticket costs 1,200 euros a year."
WRITTEN = (
    " When does the pool open on Sunday?\nA: at 9\n\nQ: Who keeps the keys of the house?\nA: Anna Keller\n"
    'Q: What does a ticket cost a year?\n\nA: "1,200 euros"\nQ: Who sings?\nA: nobody does\nQ: unfinished'
)


@pytest.fixture(autouse=True)
def fixed() -> None:
    random.seed(2)


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
