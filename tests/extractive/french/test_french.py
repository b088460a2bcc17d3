"""French documents and questions through the real engine: a language is one file in `pincite/text/lang`."""

import asyncio
from pathlib import Path

import pytest

from pincite.core.query.answer import Answer
from pincite.engine.app import AsyncPincite
from pincite.ingest.accept.collect import collect

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("built_in_reader")]

QUESTIONS = {
    "Qui a construit le refuge du Val Noir ?": "Émile Favre",
    "Combien coûte une nuit en dortoir au refuge ?": "38 francs",
    "Combien de temps dure la montée depuis Sorbier ?": "trois heures",
    "Combien de documents un lecteur peut-il emprunter à la fois ?": "dix documents",
    "Quelle est l'amende pour un document rendu en retard ?": "0,50 euro",
    "À quelle heure ouvre la bibliothèque ?": "10 heures",
    "Quand l'horloge astronomique a-t-elle été achevée ?": "1684",
    "Pourquoi le mécanisme de l'horloge est-il nettoyé tous les cinq ans ?": "poussière",
    "D'où partent les visites de l'horloge ?": "place du Marché",
    "Est-ce que l'atelier accepte les vélos électriques ?": "n'accepte pas",
}
LED_BY = {
    "Combien coûte une nuit en dortoir au refuge ?": "38 francs.",
    "Quand l'horloge astronomique a-t-elle été achevée ?": "1684.",
}
"""Answers that begin with the value asked for."""
UNANSWERABLE = "Quel est le salaire du capitaine du sous-marin ?"


@pytest.fixture(scope="module")
def answers(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answer]:
    async def ask_all() -> dict[str, Answer]:
        settings = {"data": tmp_path_factory.mktemp("french"), "database.url": module_database_url}
        async with AsyncPincite(settings=settings) as pincite:
            result = await pincite.add_all(collect(sorted(Path(__file__).parent.glob("*.md"))))
            assert {one.document.status for one in result.added} == {"completed"}
            return {question: await pincite.ask(question) for question in [*QUESTIONS, UNANSWERABLE]}

    return asyncio.run(ask_all())


def test_seven_of_ten_french_questions_are_answered_rightly(answers: dict[str, Answer]) -> None:
    wrong = {
        question: answers[question].text
        for question, expected in QUESTIONS.items()
        if expected not in answers[question].text or not answers[question].citations
    }
    assert len(wrong) <= 3, wrong


def test_an_answer_begins_with_the_french_value(answers: dict[str, Answer]) -> None:
    assert {question: answers[question].text[: len(value)] for question, value in LED_BY.items()} == LED_BY


def test_a_french_question_without_an_answer_is_refused_in_french(answers: dict[str, Answer]) -> None:
    answer = answers[UNANSWERABLE]
    assert not answer.citations
    assert answer.text.startswith("Je n'ai pas d'information précise")
