import pytest

from pincite.text.answer_type import AnswerType, answer_type


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When does the morning cabin leave?", "time"), ("In welchem Jahr starb Tesla?", "time"),
        ("How long must we wait?", "duration"), ("Wie viele Tage Urlaub habe ich?", "duration"),
        ("How many drums may travel?", "number"), ("Wie viele Tafeln gibt es?", "number"),
        ("What percentage is oxygen?", "percent"), ("How much did it cost?", "money"), ("Was kostet der Abend?", "money"),
        ("Was hat das neue Zelt gekostet?", "money"), ("what do they charge if the boat comes back late", "money"),
        ("How high is the tower?", "quantity"), ("Ab welchem Alter dürfen Kinder mit?", "quantity"),
        ("Who won?", "person"), ("Welcher Künstler malte es?", "person"), ("What is a dewar?", "none"),
    ],
)  # fmt: skip
def test_the_kind_of_value_is_read_from_the_question(question: str, kind: str) -> None:
    assert answer_type(question).kind == kind


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("What is muctl?", "definition"), ("Was ist ein Dewar?", "definition"), ("What does LOR stand for?", "definition"),
        ("List the limits.", "list"), ("Which runs may everybody ride?", "list"), ("Welche Regeln gelten im Winter?", "list"),
        ("Is the dome open?", "yes_no"), ("Darf ich hinauf?", "yes_no"), ("Was gilt im Winter?", "sentence"),
        ("Was she fed?", "yes_no"), ("How do I reset it?", "steps"), ("Wie wird die Lampe gewechselt?", "steps"),
        ("What is the difference between A and B?", "comparison"), ("When does it open?", "value"),
        ("my daughter is six, can she ride alone", "yes_no"), ("Zelt im Garten aufstellen, geht das?", "yes_no"),
        ("Is it open or closed?", "sentence"), ("Where is the key?", "sentence"),
    ],
)  # fmt: skip
def test_the_form_of_the_answer_is_read_from_the_question(question: str, form: str) -> None:
    assert answer_type(question).form == form


def test_nothing_is_read_from_an_empty_question() -> None:
    assert answer_type("") == AnswerType("none", "sentence")


@pytest.mark.parametrize(
    ("question", "kind", "form"),
    [
        ("Qui a construit le refuge ?", "person", "sentence"),
        ("Depuis quand le musée est-il ouvert ?", "time", "value"),
        ("Combien de temps dure la visite ?", "duration", "value"),
        ("Quel est le prix de l'entrée ?", "money", "value"),
        ("Combien de places a la salle ?", "number", "value"),
        ("Quelle est la hauteur de la tour ?", "quantity", "value"),
        ("Quelles sont les règles du refuge ?", "none", "list"),
        ("Est-ce que le refuge est ouvert ?", "none", "yes_no"),
        ("Comment réserver une place dans le refuge ?", "none", "steps"),
        ("Qu'est-ce que le mécanisme de la tour ?", "none", "definition"),
    ],
)
def test_french_questions_are_read_by_their_own_file(question: str, kind: str, form: str) -> None:
    assert answer_type(question) == AnswerType(kind, form)
