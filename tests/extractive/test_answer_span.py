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
        ("number", "How many stones does part 7 hold?", "The part 7 holds 7 stones of sort 49.", "7 stones"),
        ("number", "How many stones does part 7 hold?", "The part 7 holds 5 stones of sort 49.", "5 stones"),
        ("duration", "How long?", "It takes\n45 minutes.", "45 minutes"),
        ("none", "What?", "It takes 45 minutes.", ""),
    ],
)  # fmt: skip
def test_the_one_value_that_answers_is_told(want: str, question: str, sentence: str, said: str) -> None:
    assert answer_value(want, sentence, "en", terms(question, "en"), question) == said  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("language", "want", "sentence", "said"),
    [
        ("en", "time", "It is planned for the weekend of 14 and 15 June 2025.", "14 and 15 June 2025"),
        ("en", "time", "It takes place on 14, 15 and 16 June.", "14, 15 and 16 June"),
        ("en", "time", "The fair is from 10 to 12 May.", "from 10 to 12 May"),
        ("en", "time", "The fair is on the 10th and 12th of May.", "10th and 12th of May"),
        ("en", "time", "The fair is on June 14 and 15.", "June 14 and 15"),
        ("en", "time", "The fair is on June 14–15.", "June 14–15"),
        ("en", "time", "The fair is on 14 June and 15 June.", ""),
        ("en", "time", "It lasts from 1 June until 30 June.", ""),
        ("en", "time", "On June 14 and 5 people came.", ""),
        ("en", "time", "On 15 June and 5 people came.", "15 June"),
        ("en", "time", "The desk is open between 9 and 11 am.", "between 9 and 11 am"),
        ("en", "money", "It costs between 5 and 8 euros.", "between 5 and 8 euros"),
        ("en", "money", "It costs $5 to 8.", "$5 to 8"),
        ("en", "money", "It costs 3 – 5 euros.", ""),
        ("en", "money", "It costs 5 euros – 8 euros.", ""),
        ("en", "money", "It costs 5 euros and 3 people come.", "5 euros"),
        ("en", "duration", "It takes between 5 and 8 days.", "between 5 and 8 days"),
        ("en", "quantity", "It weighs 3–5 kg.", "3–5 kg"),
        ("en", "percent", "It grew by 3 or 4 %.", "3 or 4 %"),
        ("de", "time", "Geplant ist das Wochenende 14. und 15. Juni 2025.", "14. und 15. Juni 2025"),
        ("de", "time", "Die Messe ist vom 10. bis zum 12. Mai.", "vom 10. bis zum 12. Mai"),
        ("de", "time", "Der Schalter ist zwischen 9 und 11 Uhr besetzt.", "zwischen 9 und 11 Uhr"),
        ("de", "time", "Die Messe ist am 14. Juni und 15. Juni.", ""),
        ("de", "money", "Das kostet zwischen 5 und 8 Euro.", "zwischen 5 und 8 Euro"),
        ("de", "quantity", "Das Paket wiegt 3 bis 5 kg.", "3 bis 5 kg"),
        ("fr", "time", "Le salon a lieu du 10 au 12 mai.", "du 10 au 12 mai"),
    ],
)  # fmt: skip
def test_a_value_is_not_cut_out_of_a_pair_or_a_range(language: str, want: str, sentence: str, said: str) -> None:
    assert answer_value(want, sentence, language, ()) == said  # type: ignore[arg-type]


def test_a_value_of_another_kind_does_not_fit() -> None:
    assert fitting_values("time", "It weighs 9 kg.", "en", ()) == []
    assert [value.text for value in fitting_values("quantity", "It weighs 9 kg.", "en", ())] == ["9 kg"]
