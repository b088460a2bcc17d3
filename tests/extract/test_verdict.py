import pytest

from pincite.extract.verdict import verdict


@pytest.mark.parametrize(
    ("question", "sentence", "expected"),
    [
        ("Is the dome heated?", "The dome is heated.", "yes"),
        ("Is the dome heated?", "The dome is never heated.", "no"),
        ("Is the dome heated?", "The dome is heated only in winter.", None),
        ("Is the dome not heated?", "The dome is never heated.", None),
        ("Are trainers allowed?", "Trainers are not allowed, not even in August.", "no"),
        ("May I ride?", "Visitors ride.", None),
        ("Darf man auf den Gratweg?", "gesperrt", "no"),
        ("Ist der Gratweg offen?", "Gratweg: offen", "yes"),
        ("Is it free?", "It costs 5 euros.", "no"),
        ("Does it carry more than ten people?", "It carries twelve people.", "yes"),
        ("Does it carry more than twelve people?", "It carries twelve people.", "no"),
        ("Does it carry at least twelve people?", "It carries twelve people.", "yes"),
        ("Sind es weniger als 20 Tage?", "Es sind 25 Tage.", "no"),
        ("Is it more than 900 kilograms?", "It is 1,200 kilograms.", "yes"),
        ("Is it more than 10 days?", "It is 12 days in May and 8 days in June.", None),
        ("Is it more than 10 days?", "It is 12 metres.", None),
    ],
)  # fmt: skip
def test_a_verdict_is_given_where_the_sentence_decides(question: str, sentence: str, expected: str | None) -> None:
    language = "de" if question.startswith(("Darf", "Ist", "Sind")) else "en"
    assert verdict(question, sentence, 1.0, language) == expected


def test_a_sentence_about_something_else_decides_nothing() -> None:
    assert verdict("Is the dome heated in August?", "The dome is heated.", 0.5, "en") is None
