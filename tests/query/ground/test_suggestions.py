"""Suggested questions."""

import asyncio
from collections.abc import Callable

import pytest

from pincite.core.documents.document import NO_HEADINGS
from pincite.core.query.hits import Evidence, Hit
from pincite.core.run import Run
from pincite.providers.scripted import Options, ScriptedEmbedder
from pincite.query.ground.suggestions import definition_question, heading_question, suggested_questions
from tests.builders import hit, plan

LONG = "Quiet hours are from eight to three in the whole residential wing of the station, every day."
VISITS = "Twelve people may visit at once. Children are counted like everybody else, and so are guides of the village."
HITS = (
    hit(LONG, key=1, heading_path=("Handbook", "Arriving late")),
    hit(VISITS, key=2, heading_path=("Handbook", "Quiet hours")),
    hit(LONG, key=3, heading_path=("Handbook", "Quiet hours"), document_id="doc2"),
    hit("Too short.", key=4, heading_path=("Handbook", "Laundry service")),
    hit(LONG, key=5, heading_path=("Handbuch", "Die Waschküche"), language="de"),
    hit("A dewar is a flask that keeps nitrogen cold for more than a day, if nobody opens it before.", key=6),
)
TEXTS = {1: "Unused days of leave expire on 31 March.", 2: "The canteen opens at noon."}
RANKS = {1: 0.5, 2: 0.1}


def made(run: Run, *written: str, hits: tuple[Hit, ...] = HITS) -> tuple[str, ...]:
    asked = plan("When may I arrive at the station?")
    return asyncio.run(suggested_questions(run, asked, Evidence(hits, 1.0), {1}, written))


def test_uncited_passages_become_suggested_questions(make_run: Callable[..., Run]) -> None:
    assert made(make_run()) == ("How many people may visit at once?", "What is a dewar?")


def test_a_heading_that_is_a_question_is_suggested_and_no_other_heading(make_run: Callable[..., Run]) -> None:
    asked = hit(LONG, key=2, heading_path=("Handbook", "3. May I bring a dog?"))
    plain = hit(LONG, key=3, heading_path=("Handbook", "Costs"))
    assert made(make_run(), hits=(HITS[0], asked, plain)) == ("May I bring a dog?",)


def test_the_question_itself_is_not_suggested(make_run: Callable[..., Run]) -> None:
    same = hit(LONG, key=2, heading_path=("Handbook", "Arrive at the station"))
    assert made(make_run(), hits=(HITS[0], same)) == ()


def test_the_models_suggestions_that_nothing_answers_are_dropped(make_run: Callable[..., Run]) -> None:
    run = make_run(TEXTS, RANKS, RANKS)
    assert made(run, "When do unused days of leave expire?", "Who won the chess tournament in Patagonia?") == (
        "When do unused days of leave expire?",
    )


def test_unchecked_suggestions_are_kept_and_reported(make_run: Callable[..., Run]) -> None:
    run = make_run(TEXTS, RANKS, RANKS, embedder=ScriptedEmbedder(Options(fail="down")))
    assert made(run, "Who won?") == ("Who won?",)
    assert run.degraded[0].reason == "suggested questions were not checked: down"


def test_the_setting_disables_or_passes_on_suggestions(make_run: Callable[..., Run]) -> None:
    assert made(make_run(answers__suggestions="off"), "Who won?") == ()
    assert made(make_run(answers__suggestions="model"), "Who won?") == ("Who won?",)
    assert made(make_run(answers__suggestions="model")) == ()


@pytest.mark.parametrize(
    ("path", "language", "question"),
    [
        (("Handbook", "Quiet hours"), "en", "What is said about Quiet hours?"),
        (("Handbook", "2. Data"), "en", "What is said about Data in Handbook?"),
        (("Fragen", "Darf ich fotografieren?"), "de", "Was steht zu Darf ich fotografieren?"),
        (("Fragen", "Was kostet der Abend?"), "de", "Was kostet der Abend?"),
        ((NO_HEADINGS,), "en", None),
        (("Title",), "it", None),
        (("x " * 80,), "en", None),
    ],
)
def test_a_heading_becomes_a_question(path: tuple[str, ...], language: str, question: str | None) -> None:
    assert heading_question(path, "Title", language) == question


@pytest.mark.parametrize(
    ("sentence", "language", "question"),
    [
        ("GLIMMER is the fibre-fed spectrograph.", "en", "What is GLIMMER?"),
        ("The green mark is the limit.", "en", "What is the green mark?"),
        ("Ein Bulletin ist ein Bericht.", "de", "Was ist ein Bulletin?"),
        ("This is a test.", "en", None),
        ("It rains.", "en", None),
    ],
)
def test_a_definition_becomes_a_question(sentence: str, language: str, question: str | None) -> None:
    found = definition_question(sentence, language)
    assert (found[0] if found else None) == question
