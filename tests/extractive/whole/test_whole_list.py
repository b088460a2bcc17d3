"""Which list answers, and that it is whole and in order."""

import pytest

from pincite.core.query.hits import Hit
from pincite.extractive.question import question_terms
from pincite.extractive.score import score_sentences
from pincite.extractive.sentences import sentences_of
from pincite.extractive.whole.whole_list import (
    MIN_SCORE,
    best_list,
    enumerations_first,
    likely_lists,
    list_parts,
    list_score,
    listings,
)
from tests.builders import hit


def section(heading: str, text: str, n: int = 0, title: str = "Handbook") -> Hit:
    return hit(
        text, key=n, document_id="d", title=title, heading_path=(title, heading), start_char=1000 * n,
        end_char=1000 * n + 999,
    )  # fmt: skip


SOURCES = [
    section("Requesting leave", "Please plan early:\n\n1. Check the calendar.\n2. Fill in the form.", 1),
    section("Requesting leave", "3. Wait for the mail.", 2),
    section("Closing up", "1. Lock the gate.\n2. Switch the lamp off.", 3),
    section("What to bring", "Cloths\n\nGloves\n\nA wrench", 4),
    section("Minutes", "Present: Ines\nAction: Bram orders glass.\nAction: Tilda hangs nets.\nNext: Monday", 5),
    section("Fees", "| Who | Fee |\n|---|---|\n| Adults | 4 |\n| Children | 2 |", 6),
    section("Is there a lift?", "Yes, in hall 2. It stops at ten.", 7),
]


def told(question: str, meaning: float = 0.5) -> list[str]:
    found = sentences_of(SOURCES)
    asked = question_terms(question, found)
    scored = score_sentences(asked, found, [0.5] * len(found))
    likely = likely_lists(asked, scored, SOURCES)
    best = best_list(likely, [list_score(asked, one, scored, SOURCES, meaning) for one in likely])
    return [part.text for part in list_parts(best, SOURCES)] if best else []


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "How do I request leave?",
            ["Please plan early:", "1. Check the calendar.", "2. Fill in the form.", "3. Wait for the mail."],
        ),
        ("What do I need to bring?", ["- Cloths", "- Gloves", "- A wrench"]),
        ("List all actions", ["- Action: Bram orders glass.", "- Action: Tilda hangs nets."]),
        ("List all fees", ["- Who: Adults; Fee: 4.", "- Who: Children; Fee: 2."]),
        ("How do I close up?", ["1. Lock the gate.", "2. Switch the lamp off."]),
    ],
)
def test_the_list_of_the_right_section_is_given_whole(question: str, answer: list[str]) -> None:
    assert told(question) == answer


def test_a_list_about_something_else_is_no_answer() -> None:
    assert told("How do I pickle cucumbers?", meaning=0.1) == []


def test_rows_that_the_question_chooses_from_are_not_given_whole() -> None:
    assert told("Which fees are for children?") == []


def test_a_list_whose_items_have_the_label_asked_for_wins_over_one_that_the_reader_prefers() -> None:
    found = sentences_of(SOURCES)
    asked = question_terms("List all actions", found)
    scored = score_sentences(asked, found, [0.5] * len(found))
    likely = likely_lists(asked, scored, SOURCES)
    by_text = {"".join(part.text for part in list_parts(one, SOURCES)): one for one in likely}
    labelled = next(one for text, one in by_text.items() if "Action" in text and "Present" not in text)
    other = next(one for text, one in by_text.items() if "Adults" in text or "Cloths" in text)
    scores = [list_score(asked, one, scored, SOURCES, 0.5, read) for one, read in ((labelled, 0.15), (other, 0.5))]
    assert scores[0] > scores[1] + 0.5


def test_lines_that_begin_with_somebody_are_those_of_this_person() -> None:
    tasks = [section("Tasks", "Oona: oil the hinges\nPiet: count the tents\nOona: order rope\nVera: call the ferry", 1)]
    found = sentences_of(tasks)
    asked = question_terms("What does Oona have to do?", found)
    likely = likely_lists(asked, score_sentences(asked, found, [0.5] * len(found)), tasks)
    assert [part.text for part in list_parts(likely[0], tasks)] == ["- Oona: oil the hinges", "- Oona: order rope"]


def test_a_clear_winner_needs_a_lower_score() -> None:
    likely = listings(SOURCES)[:2]
    assert best_list(likely, [MIN_SCORE - 0.1, 0.2]) is likely[0]
    assert best_list(likely, [MIN_SCORE - 0.1, MIN_SCORE - 0.2]) is None
    assert best_list([], []) is None


def test_a_heading_that_is_a_question_is_answered_by_its_text() -> None:
    [answer] = [one for one in listings(SOURCES) if one.answers]
    assert [part.text for part in list_parts(answer, SOURCES)] == ["Yes, in hall 2. It stops at ten."]


def test_a_sentence_that_enumerates_comes_first() -> None:
    found = sentences_of([hit("We keep drugs here. At present these are methadone, ketamine and fentanyl.")])
    asked = question_terms("Which drugs are kept?", found)
    scored = score_sentences(asked, found, [0.5, 0.5])
    assert enumerations_first(scored)[0].sentence.text.startswith("At present")
