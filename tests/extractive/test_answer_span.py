import pytest

from pincite.extractive.answer_span import answer_value, fitting_values
from pincite.text.terms import terms


@pytest.mark.parametrize(
    ("want", "question", "sentence", "said"),
    [
        ("time", "When do days expire?", "Days expire on 31 March.", "31 March"),
        ("number", "How many turns?", "The crank needs 212 full turns, not 9.", "212 full turns"),
        ("number", "How many days carry over?", "Up to five days carry over.", "five days"),
        ("number", "How many people?", "Between 3 and 9 came.", ""),
        ("quantity", "How fast?", "At most 80 km/h, in 2 cabins.", "80 km/h"),
        ("time", "When was first light?", "Begun in 1968, it saw first light in 1994.", "1994"),
        ("time", "When?", "In 1968 or in 1994.", ""),
        ("number", "How many of the 12 cups?", "There are 12 cups.", ""),
        ("duration", "How long?", "It takes\n45 minutes.", "45 minutes"),
        ("none", "What?", "It takes 45 minutes.", ""),
    ],
)  # fmt: skip
def test_the_one_value_that_answers_is_told(want: str, question: str, sentence: str, said: str) -> None:
    assert answer_value(want, sentence, "en", terms(question, "en"), question) == said  # type: ignore[arg-type]


def test_a_value_of_another_kind_does_not_fit() -> None:
    assert fitting_values("time", "It weighs 9 kg.", "en", ()) == []
    assert [value.text for value in fitting_values("quantity", "It weighs 9 kg.", "en", ())] == ["9 kg"]
