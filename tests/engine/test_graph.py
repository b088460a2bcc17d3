"""The knowledge graph through the engine: found, stated, ranked, removed, and hidden from those who may not read it."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psycopg
import pytest

from pincite.core.accounts.access import Caller
from pincite.core.documents.document import Upload
from pincite.core.query.question import Filters, Question
from pincite.errors import NotFound
from pincite.ingest.engines.builder import EngineWorker

FILM = "# Tidal Song\n\nTidal Song was directed by Mira Okafor. It was shown in Lisbon."
PERSON = "# Mira Okafor\n\nMira Okafor was born in Lagos. Mira Okafor studied at the Harbour College."
OTHER = "# Weather\n\nRain is expected. Wind comes from the west."
TABLES = (
    "graph_mention",
    "graph_fact",
    "graph_edge",
    "graph_same",
    "graph_vector",
    "engine_edition",
)


async def added(pincite: Any, **files: str) -> dict[str, str]:
    ids = {}
    for name, text in files.items():
        one = await pincite.documents.upload(Upload(f"{name}.md", text.encode()))
        ids[name] = one.document.id
    pincite.services.workers.start()
    await asyncio.wait_for(pincite.documents.wait(list(ids.values())), 120)
    await asyncio.wait_for(pincite.admin.wait_until_built(), 120)
    return ids


def rows(database_url: str) -> dict[str, int]:
    with psycopg.connect(database_url) as admin:
        return {
            table: admin.execute(f"select count(*) from pincite.{table}").fetchone()[0]  # type: ignore[index]
            for table in TABLES
        }


def test_every_fact_leads_to_its_sentence(open_pincite: Callable[..., Any]) -> None:
    async def go() -> None:
        async with open_pincite(graph__build="rules") as pincite:
            ids = await added(pincite, film=FILM, person=PERSON)
            [node] = [one for one in await pincite.find_entities("okafor") if one.name == "Mira Okafor"]
            card = await pincite.entity(node.id)
            facts = {(one.subject, one.relation, one.object): one.place for one in card.facts}
            place = facts["Tidal Song", "was directed by", "Mira Okafor"]
            assert (place.text, place.document_id, place.line) == (
                "Tidal Song was directed by Mira Okafor.",
                ids["film"],
                3,
            )
            assert ("Mira Okafor", "was born in", "Lagos") in facts
            assert {one.node.name for one in card.neighbours if one.hops == 1} >= {
                "Lagos",
                "Tidal Song",
                "Harbour College",
            }
            steps = await pincite.graph_path("Tidal Song", "Lagos")
            assert [(one.start.name, one.relation, one.end.name) for one in steps] == [
                ("Tidal Song", "was directed by", "Mira Okafor"),
                ("Mira Okafor", "was born in", "Lagos"),
            ]
            with pytest.raises(NotFound, match="no entity"):
                await pincite.entity("Nobody Atall")

    asyncio.run(go())


def test_the_graph_finds_the_second_step_and_states_its_facts(open_pincite: Callable[..., Any]) -> None:
    question = Question(
        "Where was the director of Tidal Song born?", changes=(("rag.knowledge_graph_enabled", True),), fresh=True
    )

    async def go() -> None:
        async with open_pincite(graph__build="rules") as pincite:
            await added(pincite, film=FILM, person=PERSON, other=OTHER)
            found = await pincite.search(question)
            assert {one.via for hit in found.hits for one in hit.placings} >= {"graph"}
            assert found.degraded == ()
            answer = await pincite.ask(question)
            assert answer.graph.enriched
            told = {(one.subject, one.relation, one.object) for one in answer.graph.facts}
            assert ("Tidal Song", "was directed by", "Mira Okafor") in told
            sources = {one.number: one.document_id for one in answer.sources}
            assert all(sources[one.source] == one.document_id for one in answer.graph.facts)

    asyncio.run(go())


def test_nothing_is_left_of_a_removed_document(open_pincite: Callable[..., Any], database_url: str) -> None:
    async def go() -> None:
        async with open_pincite(graph__build="rules") as pincite:
            ids = await added(pincite, film=FILM, person=PERSON)
            before = rows(database_url)
            assert before["graph_mention"] > 4
            receipt = await pincite.remove(ids["person"])
            assert receipt.verified
            between = rows(database_url)
            gone = sum(before[table] - between[table] for table in TABLES[:-1])
            assert receipt.facts == gone > 0
            assert await pincite.find_entities("Lagos") == []
            assert (await pincite.remove(ids["film"])).verified
            assert set(rows(database_url).values()) == {0}

    asyncio.run(go())


def test_a_replaced_document_has_the_graph_of_its_new_text_and_as_of_that_of_the_old(
    open_pincite: Callable[..., Any],
) -> None:
    async def go() -> None:
        async with open_pincite(graph__build="rules") as pincite:
            ids = await added(pincite, film=FILM)
            when = (await pincite.documents.list_versions(ids["film"]))[0].created_at
            await added(pincite, film=FILM.replace("Mira Okafor", "Jonas Brandt"))
            assert await pincite.find_entities("Okafor") == []
            assert [one.name for one in await pincite.find_entities("Brandt")] == ["Jonas Brandt"]
            asked = Question("Who directed Tidal Song?", changes=(("rag.knowledge_graph_enabled", True),))
            for filters, name in ((Filters(as_of=when), "Okafor"), (Filters(), "Brandt")):
                found = await pincite.search(Question(asked.text, filters=filters, changes=asked.changes))
                texts = [hit.chunk.text for hit in found.hits if any(one.via == "graph" for one in hit.placings)]
                assert len(texts) == 1
                assert name in texts[0]

    asyncio.run(go())


@pytest.mark.parametrize("step", ["build", "write"])
def test_a_build_that_dies_at_any_step_serves_nothing_half(
    open_pincite: Callable[..., Any], database_url: str, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    class Died(BaseException):
        """As if the process were killed here."""

    async def dies(*_: Any, **__: Any) -> None:
        raise Died

    async def go() -> None:
        async with open_pincite() as pincite:
            one = await pincite.documents.upload(Upload("film.md", FILM.encode()))
            pincite.services.workers.start()
            await asyncio.wait_for(pincite.documents.wait([one.document.id]), 120)
            from pincite.config.branches.engines import Graph
            from pincite.ingest.graph.builder import GraphBuilder
            from pincite.store.engines import graph_rows

            tools = pincite.services.tools
            builder = GraphBuilder(Graph(build="rules"), tools.bulk_embedder, tools.model)
            with monkeypatch.context() as patch:
                if step == "build":
                    patch.setattr(GraphBuilder, "build", dies)
                else:  # after all rows were written, before the transaction ends
                    real = graph_rows.GraphRows.write

                    async def half(self: Any, *args: Any) -> None:
                        await real(self, *args)
                        raise Died

                    patch.setattr(graph_rows.GraphRows, "write", half)
                worker = EngineWorker(lambda: pincite.services.engine_builds, lambda: [builder])
                with suppress(Died):
                    await worker.work(lambda: False)
            left = rows(database_url)
            assert [left[table] for table in TABLES[:-1]] == [0] * 5
            assert await pincite.find_entities("Okafor") == []
            with psycopg.connect(database_url) as admin:
                admin.execute("update pincite.engine_edition set lease_until = now() - interval '1 second'")
            await EngineWorker(lambda: pincite.services.engine_builds, lambda: [builder]).work(lambda: False)
            assert rows(database_url)["graph_mention"] > 0

    asyncio.run(go())


def ranked(found: Any) -> list[tuple[str, float, tuple[tuple[str, float, float], ...]]]:
    """Hits with their scores and contributions."""
    return [
        (hit.chunk.id, hit.score, tuple((one.via, one.raw, one.share) for one in hit.placings)) for hit in found.hits
    ]


def test_hidden_documents_change_no_score_no_count_and_are_never_reached(open_pincite: Callable[..., Any]) -> None:
    """Anna's graph is the same before and after Berta adds documents that share every name with hers."""
    canary = (
        "# Mira Okafor\n\nMira Okafor is managed by Zelda Quixby. Tidal Song was financed by Zelda Quixby in Lagos."
    )
    asked = Question(
        "Who manages the director of Tidal Song from Lagos, Zelda Quixby or Mira Okafor?",
        changes=(("rag.knowledge_graph_enabled", True),),
    )

    async def seen(pincite: Any) -> tuple[Any, ...]:
        names = ("Mira Okafor", "Tidal Song", "Lagos", "Zelda Quixby", "Quixby")
        counts = [[(one.id, one.mentions) for one in await pincite.find_entities(name)] for name in names]
        cards = [await pincite.entity(name) for name in names[:3]]
        return ranked(await pincite.search(asked)), counts, cards

    async def go() -> None:
        async with open_pincite(graph__build="rules") as pincite:
            await added(pincite, film=FILM, person=PERSON, other=OTHER)
            before = await seen(pincite)
            assert any(via == "graph" for _, _, placings in before[0] for via, _, _ in placings)
            berta = Caller((await pincite.services.users.add("local", "berta", "editor")).id, "editor")
            hidden = [
                (await pincite.documents.upload(Upload(f"{n}.md", canary.encode()), caller=berta)).document.id
                for n in range(8)
            ]
            await asyncio.wait_for(pincite.documents.wait(hidden, caller=berta), 120)
            await asyncio.wait_for(pincite.admin.wait_until_built(caller=berta), 120)
            assert [one.name for one in await pincite.find_entities("Quixby", caller=berta)] == ["Zelda Quixby"]
            assert await seen(pincite) == before
            with pytest.raises(NotFound):
                await pincite.entity("Zelda Quixby")
            with pytest.raises(NotFound):
                await pincite.graph_path("Tidal Song", "Zelda Quixby")
            node = (await pincite.find_entities("Quixby", caller=berta))[0]
            with pytest.raises(NotFound):
                await pincite.entity(node.id)  # an id is made of the name alone and opens nothing

    asyncio.run(go())


def test_dual_level_joins_names_and_themes(open_pincite: Callable[..., Any], database_url: str) -> None:
    asked = Question("Where was the director of Tidal Song born?", changes=(("rag.dual_level", True),))

    async def go() -> None:
        async with open_pincite(graph__build="rules") as pincite:
            await added(pincite, film=FILM, person=PERSON, other=OTHER)
            assert [note.stage for note in (await pincite.search(asked)).degraded] == ["dual"]  # no vectors
        async with open_pincite(graph__build="rules", graph__vectors=True) as pincite:
            pincite.services.workers.start()
            await asyncio.wait_for(pincite.admin.wait_until_built(), 120)
            assert rows(database_url)["graph_vector"] > 4
            found = await pincite.search(asked)
            assert found.degraded == ()
            dual = {hit.chunk.title for hit in found.hits if any(one.via == "dual" for one in hit.placings)}
            assert dual >= {"Tidal Song", "Mira Okafor"}

    asyncio.run(go())
