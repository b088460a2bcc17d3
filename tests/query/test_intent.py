import pytest

from pincite.query.intent import intent_of


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("When does the canteen open?", "FACTUAL"),
        ("Wie viele Urlaubstage haben wir?", "FACTUAL"),
        ("What is the melting point of ice?", "FACTUAL"),
        ("Summarise the annual report.", "SUMMARY"),
        ("Give me an overview of the safety rules", "SUMMARY"),
        ("Fasse das Protokoll zusammen.", "SUMMARY"),
        ("Worum geht es in der Dienstanweisung?", "SUMMARY"),
        ("What is the difference between Quick and Fine?", "COMPARISON"),
        ("Compare the rules of 2021 and 2024", "COMPARISON"),
        ("Was ist der Unterschied zwischen Stufe 3 und 4?", "COMPARISON"),
        ("Murmel vs. Dohle", "COMPARISON"),
        ("Welche Kabine ist grösser, die obere oder die untere?", "COMPARISON"),
        ("List all telescopes.", "LIST"),
        ("Which documents are required?", "LIST"),
        ("Nenne alle Teleskope.", "LIST"),
        ("Welche Regeln gelten im Winter?", "LIST"),
        ("Why was the dome closed?", "ANALYTICAL"),
        ("Warum fährt im Winter keine Kabine?", "ANALYTICAL"),
        ("Explain the consequences of a strong wind.", "ANALYTICAL"),
        ("Erkläre, wie das Gitter gedreht wird.", "ANALYTICAL"),
    ],
)
def test_the_kind_of_answer_a_question_wants(text: str, intent: str) -> None:
    assert intent_of(text) == intent
