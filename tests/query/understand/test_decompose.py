import time

import pytest

from pincite.query.understand.decompose import MAX_PARTS, parts_of
from pincite.query.understand.intent import analyse_question


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("How many vacation days carry over?", ()),
        ("Salt and pepper shakers", ()),
        ("What is it and why?", ()),
        (
            "Were Scott Bell and Ed Wood of the same nationality?",
            ("Were Scott Bell of the same nationality", "Were Ed Wood of the same nationality"),
        ),
        (
            "What is the difference between Quick and Fine mode?",
            ("What is the difference between Quick mode", "What is the difference between Fine mode"),
        ),
        ("When does the canteen open, and who runs it?", ("When does the canteen open", "who runs it (canteen)")),
        (
            "Wer hat den Turm gebaut und wann wurde er eröffnet?",
            ("Wer hat den Turm gebaut", "wann wurde er eröffnet (Turm)"),
        ),
        ("Was kostet die Fähre? Wann fährt sie?", ("Was kostet die Fähre", "Wann fährt sie (Fähre)")),
        (
            "Compare 'Alpha Plan', 'Beta Plan' and 'Gamma Plan' on price",
            ("Compare 'Alpha Plan' on price", "Compare 'Beta Plan' on price", "Compare 'Gamma Plan' on price"),
        ),
        ("Ist Tarif A1 teurer als Tarif B2?", ()),
        ("In 2023, how many litres of milk did the dairy sell?", ()),
        ("Hi, how many cows does the dairy have?", ()),
        ("Please tell me, who leads the dairy?", ()),
        ("According to the ledger, how many cows are there?", ()),
        ("Im Jahr 2023, wie viel Milch verkaufte der Hof?", ()),
        ("Wenn ein Paket ankommt, wo wird es gelagert?", ()),
        ("In 2023, who led the dairy, and who sold milk?", ("In 2023, who led the dairy", "who sold milk")),
        ("When does the canteen open, who runs it?", ("When does the canteen open", "who runs it (canteen)")),
    ],
)
def test_a_question_is_split_into_its_parts(text: str, parts: tuple[str, ...]) -> None:
    assert parts_of(text, analyse_question(text)) == parts


def test_an_endless_list_of_questions_gives_a_few_parts_and_takes_no_time() -> None:
    text = "What is the price of apples, and who sells pears? " * 80
    started = time.process_time()
    assert len(parts_of(text, analyse_question(text))) <= MAX_PARTS
    parts_of("A and B and " * 300, analyse_question("A and B and " * 300))
    assert time.process_time() - started < 1
