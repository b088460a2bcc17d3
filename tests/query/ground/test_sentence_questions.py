"""Questions made from sentences."""

import pytest

from pincite.query.ground.sentence_questions import sentence_question


@pytest.mark.parametrize(
    ("sentence", "language", "question"),
    [
        ("Twelve people may visit at once.", "en", "How many people may visit at once?"),
        ("Up to five vacation days carry over into the next year.", "en",
         "How many vacation days carry over into the next year?"),
        ("The tank holds 18,000 litres.", "en", "How many litres does the tank hold?"),
        ("The lower section takes nine minutes.", "en", "How long does the lower section take?"),
        ("A return ticket costs 31 francs.", "en", "How much does a return ticket cost?"),
        ("The kiosk opens at seven in the morning.", "en", "When does the kiosk open?"),
        ("The station cat is called Parallax.", "en", "What is the station cat called?"),
        ("The rent of the warehouse is 4,200 euros a month.", "en", "What is the rent of the warehouse?"),
        ("Die Miete beträgt 4.200 Euro im Monat.", "de", "Wie hoch ist die Miete?"),
        ("Zwölf Personen dürfen teilnehmen.", "de", "Wie viele Personen dürfen teilnehmen?"),
        ("Der Abend kostet 25 Franken.", "de", "Was kostet der Abend?"),
        ("Die Führung dauert etwa zwei Stunden.", "de", "Wie lange dauert die Führung?"),
        ("Die Kantine öffnet um sieben Uhr.", "de", "Wann öffnet die Kantine?"),
        ("A night is called usable if the dome was open for three hours.", "en", None),
        ("It takes nine minutes.", "en", None),
        ("The others take ten minutes.", "en", None),
        ("Costs.", "en", None),
        ("Sie dauert zwei Stunden.", "de", None),
        ("Il coûte 5 euros.", "fr", None),
    ],
)  # fmt: skip
def test_a_sentence_becomes_the_question_that_it_answers(sentence: str, language: str, question: str | None) -> None:
    assert sentence_question(sentence, language) == question
