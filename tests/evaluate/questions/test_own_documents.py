"""One's own documents as the measure."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from pincite.config.settings import Settings
from pincite.core.evaluations import Evaluation, EvaluationSet, Place, SetQuestion
from pincite.engine.app import AsyncPincite
from pincite.errors import Invalid, NotFound
from pincite.evaluate.questions.own_documents import (
    EvalRequest,
    compare_runs,
    make_set,
    rank_of,
    run_set,
    settings_to_try,
)
from pincite.providers.scripted import Options, ScriptedLLM
from tests.builders import answering, hit

pytestmark = pytest.mark.usefixtures("built_in_reader")

SAMPLES = Path(__file__).parents[3] / "examples" / "documents"
FILES = ("station-handbook.md", "telescope-control.md")


def silent(_progress: object) -> None:
    """Nobody listens."""


@pytest.fixture
def library(open_pincite: Callable[..., Any]) -> Callable[..., Any]:
    """Runs something on a library with two of the sample documents."""

    def run(test: Callable[[AsyncPincite], Awaitable[Any]], **settings: Any) -> Any:
        async def main() -> Any:
            async with open_pincite(**settings) as pincite:
                for name in FILES:
                    await pincite.add(SAMPLES / name)
                return await test(pincite)

        return asyncio.run(main())

    return run


async def made(pincite: AsyncPincite, **wish: Any) -> EvaluationSet:
    found, notes = await make_set(pincite, EvalRequest(**{"questions": 30, **wish}), report=silent)
    assert notes == ()
    return found


def test_a_set_is_made_kept_and_versioned_and_points_into_the_documents(library: Callable[..., Any]) -> None:
    async def test(pincite: AsyncPincite) -> None:
        first, second = await made(pincite), await made(pincite, seed=1)
        assert (first.version, second.version, first.made_by, first.size) == (1, 2, "words", 30)
        scope = await pincite.scope()
        assert await pincite.services.evaluations.get_set(scope) == second
        assert [one.text for one in first.questions] != [one.text for one in second.questions]
        assert len({one.kind for one in first.questions}) == 4
        for question in first.questions:
            text = (await pincite.services.library.text(scope, question.place.document_id)).text
            stands = text[question.place.start : question.place.end]
            shared = {word for word in question.text.split() if word in stands}
            assert shared, question

    library(test)


def test_the_same_seed_makes_the_same_set(library: Callable[..., Any]) -> None:
    async def test(pincite: AsyncPincite) -> None:
        one, other = await made(pincite, seed=5), await made(pincite, seed=5)
        assert [question.text for question in one.questions] == [question.text for question in other.questions]

    library(test)


def test_a_run_is_kept_and_the_next_one_knows_what_changed(library: Callable[..., Any]) -> None:
    async def test(pincite: AsyncPincite) -> None:
        questions = await made(pincite)
        scope = await pincite.scope()
        lexical = settings_to_try(pincite.settings, {"rag.alpha": 0})
        first = await run_set(pincite, questions, lexical, report=silent)
        assert (first.state, first.set_version, first.settings) == ("done", 1, {"rag.alpha": 0.0})
        assert await pincite.services.evaluations.previous_run(scope, first) is None
        assert first.outcome is not None
        assert set(first.outcome.ranks) == {one.id for one in questions.questions}
        assert next(iter(first.outcome.measures)) == "nDCG@10"
        assert first.outcome.measures["recall@100"].value > 0.9
        assert await pincite.services.evaluations.get(scope, first.id) == first
        meaning = await run_set(pincite, questions, settings_to_try(pincite.settings, {"rag.alpha": 1}), report=silent)
        assert await pincite.services.evaluations.previous_run(scope, meaning) == first
        told = compare_runs(first, meaning)
        assert told.questions == 30
        assert told.measures["nDCG@10"].verdict == "worse"  # the scripted embedder knows no meaning
        assert compare_runs(first, first).measures["nDCG@10"].value == 0.0

    library(test)


def test_questions_of_a_removed_document_are_gone_and_those_of_a_new_version_are_left_out(
    library: Callable[..., Any], tmp_path: Path
) -> None:
    async def test(pincite: AsyncPincite) -> Evaluation:
        questions = await made(pincite)
        handbook, telescope = sorted(await pincite.documents.all(), key=lambda one: one.name)
        left = [one for one in questions.questions if one.place.document_id == telescope.id]
        assert 0 < len(left) < 30
        await pincite.remove(handbook.id)
        after = await pincite.services.evaluations.get_set(await pincite.scope(), questions.id)
        assert [one.id for one in after.questions] == [one.id for one in left]
        changed = tmp_path / telescope.name
        changed.write_text((SAMPLES / telescope.name).read_text(encoding="utf-8") + "\nMore.\n", encoding="utf-8")
        await pincite.add(changed)
        stale = await pincite.services.evaluations.get_set(await pincite.scope(), questions.id)
        assert not any(one.current for one in stale.questions)
        return await run_set(pincite, stale, pincite.settings, report=silent)

    with pytest.raises(Invalid, match="create a new set"):
        library(test)


def test_an_empty_library_has_nothing_to_ask(open_pincite: Callable[..., Any]) -> None:
    async def main() -> None:
        async with open_pincite() as pincite:
            with pytest.raises(NotFound, match="no question set yet"):
                await pincite.services.evaluations.get_set(await pincite.scope())
            await make_set(pincite, EvalRequest(), report=silent)

    with pytest.raises(Invalid, match="no question could be generated from 0 passages"):
        asyncio.run(main())


def test_only_a_configured_model_can_write_questions(library: Callable[..., Any]) -> None:
    async def test(pincite: AsyncPincite) -> None:
        await make_set(pincite, EvalRequest(by="model"), report=silent)

    with pytest.raises(Invalid, match="no model is configured"):
        library(test)


def test_a_configured_model_writes_the_questions(library: Callable[..., Any]) -> None:
    async def test(pincite: AsyncPincite) -> tuple[EvaluationSet, EvaluationSet]:
        heard: list[Any] = []
        asked = "Where at the observatory are the station, the telescope and the dome?"
        with answering(pincite, ScriptedLLM(Options(answers=(asked,)))):
            written, _ = await make_set(pincite, EvalRequest(questions=23), report=heard.append)
            assert [step.done for step in heard] == list(range(1, len(heard) + 1))
            return written, await made(pincite, by="words")

    written, by_words = library(test)
    assert (written.made_by, by_words.made_by) == ("model", "words")
    assert {one.kind for one in written.questions} == {"written"}


def test_the_first_passage_that_holds_the_place_counts_and_a_twin_is_as_good() -> None:
    hits = [hit("elsewhere", key=1), hit("the answer", key=2), hit("a copy", key=3)]
    found = hits[1].chunk
    place = Place(found.document_id, found.start_char + 2, found.start_char + 4)
    question = SetQuestion("?", "cloze", "en", place, "v1", 2)
    assert rank_of(question, hits) == 2
    first = hits[0].chunk
    twin = Place(first.document_id, first.start_char, first.end_char)
    assert rank_of(SetQuestion("?", "cloze", "en", place, "v1", 2, (twin,)), hits) == 1
    behind = Place(found.document_id, found.end_char, found.end_char + 5)
    assert rank_of(SetQuestion("?", "cloze", "en", behind, "v1", 2), hits) is None


def test_only_what_acts_on_a_question_can_be_tried() -> None:
    tried = settings_to_try(Settings(), {"rag.top_k": 7}, "vexora")
    assert (tried.rag.candidates, tried.rag.top_k) == (20, 7)
    for changes, told in (
        ({"chunking.size": 100}, "not a setting that an evaluation can change"),
        ({"llm.base_url": "http://x"}, "not a setting"),
        ({"rag.alpha": 7}, "rag.alpha"),
    ):
        with pytest.raises(Invalid, match=told):
            settings_to_try(Settings(), changes)
