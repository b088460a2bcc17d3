"""The index that is searched and the one beside it, compared before anything is switched."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pincite.core.accounts.access import LOCAL, Caller
from pincite.core.evaluations import EvaluationSet
from pincite.core.query.question import Filters, Question
from pincite.engine.app import AsyncPincite
from pincite.errors import Conflict, NotAllowed
from pincite.evaluate.compare_indexes import compare_indexes
from pincite.evaluate.questions.own_documents import EvalRequest, make_set, run_set, scores

SAMPLES = Path(__file__).parents[2] / "examples" / "documents"
FILES = ("station-handbook.md", "telescope-control.md")


def silent(_progress: object) -> None:
    """Nobody listens."""


async def built(pincite: AsyncPincite) -> None:
    async with asyncio.timeout(120):
        while await waiting(pincite):
            await asyncio.sleep(0.02)


async def waiting(pincite: AsyncPincite) -> int:
    standing = await pincite.services.index_switch.status()
    return standing.building.waiting if standing.building else 0


async def asked_for_real(pincite: AsyncPincite, questions: EvaluationSet) -> dict[str, tuple[float, ...]]:
    """Each measure question by question, of the index that is searched, by the way that is taken every day."""
    run = await run_set(pincite, questions, pincite.settings, report=silent)
    assert run.outcome is not None
    return {name: tuple(values) for name, values in scores(list(run.outcome.ranks.values())).items()}


def test_what_is_said_of_both_is_what_each_finds_when_it_is_searched(open_pincite: Callable[..., Any]) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            for name in FILES:
                await pincite.add(SAMPLES / name)
            questions, _ = await make_set(pincite, EvalRequest(questions=30), report=silent)
            with pytest.raises(Conflict, match="no second index to compare with"):
                await compare_indexes(pincite, questions, report=silent)
            before = await asked_for_real(pincite, questions)
            await pincite.services.live_settings.set({"chunking.size": 60, "chunking.overlap": 0}, LOCAL)
            await pincite.services.workers.stop()
            await pincite.admin.reindex(hold=True)
            with pytest.raises(Conflict, match="2 documents wait to be indexed"):
                await compare_indexes(pincite, questions, report=silent)
            pincite.services.workers.start()
            await built(pincite)
            with pytest.raises(NotAllowed):
                await compare_indexes(pincite, questions, caller=Caller("local", "reader"), report=silent)
            found = await compare_indexes(pincite, questions, report=silent)
            assert (found.name, found.documents, found.questions) == ("your set 1", 2, 30)
            searched, beside = found.trials
            assert (searched.name, beside.name) == ("searched", "built")
            assert searched.notes == beside.notes == ()
            assert searched.scores == before
            assert len(searched.times_ms) == len(beside.times_ms) == 30
            await pincite.admin.switch_index()
            assert await asked_for_real(pincite, questions) == beside.scores
            assert beside.scores != searched.scores
            after = await compare_indexes(pincite, questions, report=silent)
            assert [trial.name for trial in after.trials] == ["searched", "standing by"]
            assert [trial.scores for trial in after.trials] == [beside.scores, searched.scores]

    asyncio.run(go())


def test_nobody_meets_what_is_built_unless_asking_for_it(open_pincite: Callable[..., Any]) -> None:
    async def go() -> None:
        async with open_pincite(chunking__overlap=0) as pincite:
            await pincite.add(SAMPLES / FILES[0])
            await pincite.services.live_settings.set({"chunking.size": 60}, LOCAL)
            await pincite.admin.reindex(hold=True)
            await built(pincite)
            other = await pincite.services.index_switch.complete()
            plain = await pincite.search(Question("telescope", top_k=5))
            named = await pincite.search(Question("telescope", top_k=5, filters=Filters(index=other.signature)))
            sizes = [max(len(hit.chunk.text) for hit in found.hits) for found in (plain, named)]
            assert sizes[0] > sizes[1]
            assert not {hit.chunk.key for hit in plain.hits} & {hit.chunk.key for hit in named.hits}

    asyncio.run(go())
