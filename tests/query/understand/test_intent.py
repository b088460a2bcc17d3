import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from pincite.core.query.plan import QuestionAnalysis
from pincite.query.understand.intent import analyse_question


@dataclass(frozen=True)
class Labelled:
    language: str
    intent: str
    type: str
    hops: str
    text: str


LINES = (Path(__file__).parent / "labelled_questions.tsv").read_text(encoding="utf-8").splitlines()
LABELLED = [Labelled(*line.split("\t")) for line in LINES if not line.startswith("#")]
DIMENSIONS: dict[str, Callable[[Labelled, QuestionAnalysis], bool]] = {
    "intent": lambda label, found: label.intent == found.intent,
    "type": lambda label, found: label.type == found.type,
    "hops": lambda label, found: (label.hops == "several") == found.is_multi_hop,
}


def test_there_are_questions_enough_in_both_languages() -> None:
    languages = [label.language for label in LABELLED]
    assert min(languages.count("en"), languages.count("de")) >= 60


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_nine_of_ten_questions_are_read_as_a_person_reads_them(dimension: str, language: str) -> None:
    labelled = [label for label in LABELLED if label.language == language]
    wrong = [label.text for label in labelled if not DIMENSIONS[dimension](label, analyse_question(label.text))]
    assert len(wrong) <= 0.1 * len(labelled), wrong


@pytest.mark.parametrize("value", sorted({label.intent for label in LABELLED} | {label.type for label in LABELLED}))
def test_every_kind_is_classified_well(value: str) -> None:
    mine = [label for label in LABELLED if value in (label.intent, label.type)]
    found = [value in (analyse_question(label.text).intent, analyse_question(label.text).type) for label in mine]
    assert sum(found) >= 0.8 * len(mine)


def test_several_matching_patterns_raise_the_confidence() -> None:
    once = analyse_question("Which cabin is larger, the upper or the lower one?")
    twice = analyse_question("Compare the two cabins: which is larger, the upper or the lower one?")
    torn = analyse_question("Why is there a difference between the cabins?")
    assert {once.intent, twice.intent} == {"COMPARISON"}
    assert twice.intent_confidence > once.intent_confidence > torn.intent_confidence > 0
    assert analyse_question("Cats").intent_confidence == 0.7


@pytest.mark.parametrize(
    ("text", "hints", "levels"),
    [
        ("List all telescopes.", {"breadth": 1.5, "mmr": False, "template": "list"}, (1, 2)),
        ("Compare A and B", {"mmr": True, "chain_of_thought": True, "graph": True, "template": "comparison"}, (1, 2)),
        ("Why is it cold?", {"mmr": False, "chain_of_thought": True, "template": "analytical"}, (2,)),
        ("Summarise the report.", {"mmr": False, "template": "summary"}, (0, 1)),
        ("Who was Ada Byron?", {"breadth": 1.0, "mmr": False, "graph": False, "template": "factual"}, (2,)),
    ],
)
def test_a_kind_has_its_hints_and_levels(text: str, hints: dict[str, object], levels: tuple[int, ...]) -> None:
    found = analyse_question(text)
    assert {name: getattr(found.hints, name) for name in hints} == hints
    assert found.levels == levels


@pytest.mark.parametrize(
    "text", ["", "?", "🙂" * 500, "и" * 4000, "of the a " * 500, "which " * 700, "'" * 4000, ", die " * 800]
)
def test_reading_takes_next_to_no_time_whatever_was_asked(text: str) -> None:
    started = time.process_time()
    analyse_question(text)
    assert time.process_time() - started < 2.0
