"""What is left of an agent's last turn: no sentences about searching, none twice."""

import pytest

from pincite.query.agent.final_text import final_text


@pytest.mark.parametrize(
    "text",
    [
        "I would search for the port of the mount controller.",
        "To answer this question, I would search for “humidity limit” in the documents.",
        "Let me look up the error code.",
        "First, I will search for the table of errors. Then I need to check the manual.",
        "I'll use the rag_search tool.",
        "I am going to look for the builder of the mill.",
        "Searching for the port.",
        "- I would search for the port.\n- I would also look up the manual.",
        "Ich würde nach der Höchstzahl der Personen suchen.",
        "Zuerst suche ich nach dem Sommerfest.",
        "Um die Frage zu beantworten, werde ich die Dokumente durchsuchen.",
        "Ich muss zunächst im Handbuch nachschlagen.",
    ],
)
def test_a_text_about_searching_is_no_answer(text: str) -> None:
    assert final_text(text) == ""


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("I would search for the port. The port is 4717 [Source 1].", "The port is 4717 [Source 1]."),
        ("I will look for the port.\n\nThe port is 4717. [Source 1]", "The port is 4717. [Source 1]"),
        ("The port is 4717 [Source 1]. Let me also check the manual.", "The port is 4717 [Source 1]."),
        ("- I would search for it.\n- The port is 4717 [Source 1].", "- The port is 4717 [Source 1]."),
        (
            "The controller uses port 4717 [Source 1]. The controller uses port 4717 [Source 2].",
            "The controller uses port 4717 [Source 1].",
        ),
        (
            "The controller uses port 4717. [Source 1]\n\nThe controller uses port 4717. [Source 1]\n\nIt is in the cellar.",
            "The controller uses port 4717. [Source 1]\n\nIt is in the cellar.",
        ),
        ("Ich suche nach dem Port. Der Port ist 4717 [Source 1].", "Der Port ist 4717 [Source 1]."),
        ("The dome opens at\ndusk today. The dome opens at dusk today.", "The dome opens at\ndusk today."),
    ],
)
def test_sentences_about_searching_and_repeated_ones_are_removed(text: str, left: str) -> None:
    assert final_text(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "Yes. It is open. Yes. It is closed.",
        "I could not find any information about this in the documents.",
        "I searched the documents: the port is 4717.",
        "I looked up the error [Source 1]: close and open once.",
        "I would look for the fault in the cable [Source 2].",
        "Search for the port in the manual.",
        "You should check the oil first. You should then check the belt.",
        "```\nx = 1 + 2 + 3\nx = 1 + 2 + 3\n```",
        "| a | b |\n|---|---|\n| one two | three four |\n| one two | three four |",
        "Ich kann dazu in den Dokumenten keine Angaben finden.",
        "Wir suchen ab Mai eine neue Kollegin [Source 1].",
        "1. Open the dome.\n2. Wait for an hour.\n\nThen   start.",
    ],
)
def test_other_text_stays(text: str) -> None:
    assert final_text(text) == text
