"""Searches while documents change, and while a new index is built."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pincite.config.settings import Settings
from pincite.core.accounts.access import LOCAL, Caller
from pincite.core.accounts.audit import AuditFilter
from pincite.core.documents.document import Upload
from pincite.core.query.question import Filters, Question
from pincite.engine.app import AsyncPincite
from pincite.engine.index.switch import index_values, with_index_settings
from pincite.errors import Conflict, NotAllowed, NotFound
from pincite.providers.scripted import Options, ScriptedEmbedder

Open = Callable[..., Any]
OTHER = {"embedding.provider": "cosine"}
READER = Caller("local", "reader")


class Other(ScriptedEmbedder):
    """Another embedding model with different vectors."""

    name = "other/1"

    async def embed(self, texts: Any, *, as_query: bool) -> Any:
        return [vector[::-1] for vector in await super().embed(texts, as_query=as_query)]


@pytest.fixture
def other(monkeypatch: pytest.MonkeyPatch) -> type[Other]:
    """Register a second embedder under the name of an unused module."""
    monkeypatch.setattr("pincite.providers.cosine.Options", Options, raising=False)
    monkeypatch.setattr("pincite.providers.cosine.make_embedder", lambda options: Other(options), raising=False)
    return Other


@pytest.fixture
def library(database_url: str, tmp_path: Path) -> Open:
    """Open an engine whose embedder an administrator may change."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "settings.toml").write_text('[embedding]\nprovider = "scripted"\n', encoding="utf-8")
    return lambda workers=1: AsyncPincite(
        settings={"data": data, "database.url": database_url, "ingest.workers": workers}
    )


async def put(pincite: AsyncPincite, name: str, text: str) -> str:
    pincite.services.workers.start()
    added = await pincite.documents.upload(Upload(name, text.encode()))
    async with asyncio.timeout(180):
        await pincite.documents.wait([added.document.id])
    return added.document.id


async def switched(pincite: AsyncPincite) -> None:
    async with asyncio.timeout(180):
        while (await pincite.services.index_switch.status()).building:
            await asyncio.sleep(0.02)


async def best(pincite: AsyncPincite, text: str, **filters: Any) -> tuple[str, bool]:
    """Return the best passage, and whether the dense search found it."""
    found = await pincite.search(Question(text, filters=Filters(**filters)))
    return found.hits[0].chunk.text, found.hits[0].similarity > 0.1 and found.degraded == ()


async def now(pincite: AsyncPincite) -> Any:
    [[(moment,)]] = await pincite.services.database.run_batch("", "select clock_timestamp()", values={})
    return moment


# --- versions --------------------------------------------------------------------------------------------------


def test_earlier_versions_are_searched_by_time_until_they_are_removed(open_pincite: Open) -> None:
    releases = [
        {"pump.md": "# Pump\n\nThe pump holds ten litres.\n", "fan.md": "# Fan\n\nThe fan is blue.\n"},
        {"pump.md": "# Pump\n\nThe pump holds twenty litres.\n", "lamp.md": "# Lamp\n\nThe lamp is new.\n"},
        {"pump.md": "# Pump\n\nThe pump holds thirty litres.\n"},
    ]

    async def go() -> None:
        async with open_pincite() as pincite:
            times, ids = [], {}
            for release in releases:
                ids.update({name: await put(pincite, name, text) for name, text in release.items()})
                times.append(await now(pincite))
            for time, words in zip(times, ("ten", "twenty", "thirty"), strict=True):
                answer = await pincite.ask(Question("How much does the pump hold?", filters=Filters(as_of=time)))
                assert f"{words} litres" in answer.text
                assert f"{words} litres" in answer.citations[0].quote
            early = await pincite.search(Question("lamp", filters=Filters(as_of=times[0])))
            assert "Lamp" not in {hit.chunk.title for hit in early.hits}
            found = await pincite.documents.difference(ids["pump.md"])
            changed = [(line.kind, line.text) for hunk in found.hunks for line in hunk.lines if line.kind != "same"]
            assert changed == [("removed", "The pump holds twenty litres."), ("added", "The pump holds thirty litres.")]
            first = (await pincite.services.library.versions(await pincite.scope(), ids["pump.md"]))[-1].id
            assert (await pincite.documents.difference(ids["pump.md"], first)).before == first
            with pytest.raises(NotFound, match="nothing to compare"):
                await pincite.documents.difference(ids["fan.md"])
            await pincite.remove(ids["pump.md"])
            for time in (None, *times):
                left = await pincite.search(Question("How much does the pump hold?", filters=Filters(as_of=time)))
                assert not [hit for hit in left.hits if "litres" in hit.chunk.text]

    asyncio.run(go())


def test_an_answer_during_an_update_uses_the_old_or_the_new_version(open_pincite: Open) -> None:
    def text(number: int) -> str:
        return "".join(f"# Part {part}\n\nThe value of part {part} is {number}.\n\n" for part in range(6))

    async def go() -> None:
        async with open_pincite(chunking__size=20, chunking__overlap=0) as pincite:
            document, seen = await put(pincite, "values.md", text(0)), set[str]()
            changing = True

            async def ask() -> None:
                while changing:
                    found = await pincite.search("the value of each part")
                    versions = {hit.chunk.version for hit in found.hits}
                    values = {hit.chunk.text.rstrip(".\n").rpartition(" ")[2] for hit in found.hits}
                    assert (len(versions), len(values)) == (1, 1)
                    seen.update(values)

            asking = [asyncio.create_task(ask()) for _ in range(3)]
            for number in range(1, 9):
                await put(pincite, "values.md", text(number))
            changing = False
            await asyncio.gather(*asking)
            assert len(seen) > 1
            assert len(await pincite.services.library.versions(await pincite.scope(), document)) == 9

    asyncio.run(go())


# --- another index ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("other")
def test_searches_never_fail_during_a_build_and_switch_once(library: Open) -> None:
    async def go() -> None:
        async with library() as pincite:
            for number in range(12):
                await put(pincite, f"{number}.md", f"# Topic {number}\n\nThe subject {number} is word{number}.\n")
            models, going = list[str](), True

            async def ask() -> None:
                while going:
                    found = await pincite.search("subject word7")
                    assert found.hits[0].chunk.document_name == "7.md"
                    models.append(pincite.services.embedder.name)

            asking = [asyncio.create_task(ask()) for _ in range(2)]
            await pincite.services.live_settings.set(OTHER, LOCAL)
            assert await pincite.admin.reindex() == 12
            added = await put(pincite, "new.md", "# New\n\nThis came meanwhile: marmalade.\n")
            await switched(pincite)
            await pincite.documents.wait([added])  # begun before the switch, it is made anew after it
            await pincite.search("subject word7")
            going = False
            await asyncio.gather(*asking)
            assert [one for n, one in enumerate(models) if n and models[n - 1] != one] in ([], ["other/1"])
            assert pincite.services.embedder.name == "other/1"
            assert await best(pincite, "came meanwhile marmalade") == ("# New\n\nThis came meanwhile: marmalade.", True)
            assert not (await pincite.get(added)).stale

    asyncio.run(go())


@pytest.mark.usefixtures("other")
def test_a_rollback_includes_documents_added_since_the_switch(library: Open) -> None:
    async def go() -> None:
        async with library() as pincite:
            await put(pincite, "a.md", "# A\n\nAlpha waves.\n")
            with pytest.raises(NotFound, match="no earlier index"):
                await pincite.admin.roll_back_index()
            await pincite.services.live_settings.set(OTHER, LOCAL)
            await pincite.admin.reindex()
            await switched(pincite)
            await put(pincite, "b.md", "# B\n\nBeta waves.\n")
            await pincite.admin.roll_back_index()
            await switched(pincite)
            for letter in ("Alpha", "Beta"):
                assert await best(pincite, f"{letter} waves") == (f"# {letter[0]}\n\n{letter} waves.", True)
            assert pincite.services.embedder.name == "scripted/1"
            assert await pincite.admin.discard_index() == 1
            assert [one.state for one in (await pincite.services.index_switch.status()).all] == ["serving"]
            noted, _ = await pincite.services.audit.list(LOCAL.person, AuditFilter(event="index"))
            assert [one.event for one in noted] == ["index.discard", "index.rollback"]
            assert await best(pincite, "Alpha waves") == ("# A\n\nAlpha waves.", True)

    asyncio.run(go())


@pytest.mark.usefixtures("other")
def test_chunking_acts_at_once_and_another_embedder_after_reindexing(library: Open) -> None:
    text = "# Long\n\n" + " ".join(f"Sentence number {n} is here." for n in range(60)) + "\n"

    async def go() -> None:
        async with library() as pincite:
            before = await pincite.get(await put(pincite, "a.md", text))
            small = {"chunking.size": 40, "chunking.overlap": 0}
            await pincite.services.live_settings.set({**OTHER, **small}, LOCAL)
            new = await pincite.get(await put(pincite, "b.md", text.replace("Long", "Short")))
            assert (new.chunks > 3 * before.chunks, new.stale) == (True, True)  # cut anew, embedded as before
            assert await best(pincite, "Sentence number 3", document_ids=(new.id,)) == (
                (await pincite.search("Sentence number 3")).hits[0].chunk.text, True,
            )  # fmt: skip
            assert await pincite.admin.reindex() == 2
            await switched(pincite)
            documents = [await pincite.get(one.id) for one in (before, new)]
            assert [(one.chunks, one.stale) for one in documents] == [(new.chunks, False)] * 2

    asyncio.run(go())


def test_documents_with_the_new_settings_survive_switch_and_rollback(library: Open) -> None:
    async def go() -> None:
        async with library() as pincite:
            old = await put(pincite, "a.md", "# A\n\nAlpha waves.\n")
            await pincite.services.live_settings.set({"chunking.size": 40}, LOCAL)
            new = await put(pincite, "b.md", "# B\n\nBeta waves.\n")
            assert [(await pincite.get(one)).stale for one in (old, new)] == [True, False]
            assert (await pincite.services.job_list.page(await pincite.scope(), limit=9))[0] == []
            assert await pincite.admin.reindex() == 1
            await switched(pincite)
            assert [(await pincite.get(one)).stale for one in (old, new)] == [False, False]
            await pincite.services.live_settings.undo(LOCAL)
            await pincite.admin.roll_back_index()
            await switched(pincite)
            assert [(await pincite.get(one)).stale for one in (old, new)] == [False, False]
            for letter in ("Alpha", "Beta"):
                assert await best(pincite, f"{letter} waves") == (f"# {letter[0]}\n\n{letter} waves.", True)

    asyncio.run(go())


@pytest.mark.usefixtures("other")
def test_a_standby_index_is_discarded_after_standby_days(library: Open) -> None:
    async def go() -> None:
        async with library() as pincite:
            await put(pincite, "a.md", "# A\n\nAlpha waves.\n")
            await pincite.services.live_settings.set(OTHER, LOCAL)
            await pincite.admin.reindex()
            await switched(pincite)
            for days, left in ((29, 2), (31, 1)):
                async with pincite.services.database.transaction("") as connection:
                    await connection.execute(
                        "update generation set switched_at = now() - make_interval(days => %s)", (days,)
                    )
                await pincite.services._clean_up()
                assert len((await pincite.services.index_switch.status()).all) == left
            async with pincite.services.database.administrator() as admin:
                kept = await (await admin.execute("select count(*) from pincite.edition")).fetchall()
            assert kept == [(1,)]
            assert await best(pincite, "Alpha waves") == ("# A\n\nAlpha waves.", True)

    asyncio.run(go())


@pytest.mark.usefixtures("other")
def test_a_held_index_is_searched_after_a_manual_switch(library: Open) -> None:
    async def go() -> None:
        async with library() as pincite:
            await put(pincite, "a.md", "# A\n\nAlpha waves.\n")
            with pytest.raises(Conflict, match="no index is being built"):
                await pincite.admin.switch_index()
            await pincite.services.live_settings.set(OTHER, LOCAL)
            with pytest.raises(NotAllowed):
                await pincite.admin.reindex(caller=READER)
            await pincite.services.workers.stop()
            await pincite.admin.reindex(hold=True)
            with pytest.raises(Conflict, match="0 of 1 documents are indexed, 1 wait"):
                await pincite.admin.switch_index()
            pincite.services.workers.start()
            async with asyncio.timeout(180):
                while (built := (await pincite.services.index_switch.status()).building) and built.waiting:
                    await asyncio.sleep(0.02)
            assert built
            assert (built.documents, built.built) == (1, 1)
            assert await best(pincite, "Alpha waves") == ("# A\n\nAlpha waves.", True)
            assert pincite.services.embedder.name == "scripted/1"
            await pincite.services.index_switch.switch_if_built()
            assert (
                await pincite.services.index_switch.status()
            ).building  # it waits for a word, though one was said too early
            await pincite.admin.switch_index()
            [noted], _ = await pincite.services.audit.list(LOCAL.person, AuditFilter(event="index.switch"))
            assert (noted.person, noted.details) == ("local", {"documents": 1})
            assert pincite.services.embedder.name == "other/1"
            assert await best(pincite, "Alpha waves") == ("# A\n\nAlpha waves.", True)

    asyncio.run(go())


@pytest.mark.usefixtures("other")
def test_an_interrupted_build_keeps_the_old_index_and_resumes(library: Open) -> None:
    async def go() -> None:
        async with library() as pincite:
            for number in range(6):
                await put(pincite, f"{number}.md", f"# {number}\n\nText number{number} here.\n")
            await pincite.services.workers.stop()
            await pincite.services.live_settings.set(OTHER, LOCAL)
            assert await pincite.admin.reindex() == 6
        async with library() as pincite:  # nobody works: as after a kill
            assert pincite.services.embedder.name == "scripted/1"
            assert await best(pincite, "number3 text") == ("# 3\n\nText number3 here.", True)
            other = library()
            async with other:  # another process follows without being asked
                pincite.services.workers.start()
                await switched(pincite)
                assert await best(other, "number3 text") == ("# 3\n\nText number3 here.", True)
                assert other.services.embedder.name == "other/1"

    asyncio.run(go())


@pytest.mark.usefixtures("other")
def test_a_build_never_uses_text_of_an_outdated_parser(library: Open) -> None:
    async def go() -> None:
        async with library() as pincite:
            one, two = (
                await put(pincite, "a.md", "# A\n\nGreen apples."),
                await put(pincite, "b.md", "# B\n\nRed pears."),
            )
            async with pincite.services.database.transaction("local") as connection:  # as an earlier release read it
                await connection.execute("update version set text = 'B: Red pears.' where document_id = %s", (two,))
            await pincite.services.live_settings.set(OTHER, LOCAL)
            await pincite.admin.reindex()
            async with asyncio.timeout(60):
                while (await pincite.services.index_switch.status()).building or await pincite.services.jobs.waiting(
                    await pincite.scope(), [one, two]
                ):
                    await asyncio.sleep(0.05)
            scope = await pincite.scope()
            text = await pincite.services.library.text(scope, two)
            assert text.text == "# B\n\nRed pears."
            for hit in (await pincite.search("red pears")).hits:
                chunk = hit.chunk
                whole = (await pincite.services.library.text(scope, chunk.document_id)).text
                assert whole[chunk.start_char : chunk.end_char] == chunk.text
            assert (await pincite.services.library.stale(scope)) == 0

    asyncio.run(go())


@pytest.mark.usefixtures("other")
def test_an_empty_library_switches_to_new_index_settings_at_once(library: Open) -> None:
    async def go() -> None:
        async with library() as pincite:
            await pincite.services.live_settings.set(OTHER, LOCAL)
            assert pincite.services.embedder.name == "other/1"
            assert not (await pincite.services.index_switch.status()).wanting

    asyncio.run(go())


def test_reindexing_without_changed_settings_happens_in_place(open_pincite: Open) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            document = await put(pincite, "a.md", "# A\n\nAlpha waves.\n")
            assert await pincite.admin.reindex(stale=True) == 0
            async with pincite.services.database.transaction("local") as connection:
                await connection.execute("update edition set signature = 'earlier'")
            assert (await pincite.get(document)).stale
            with pytest.raises(NotFound, match="no document 'nope'"):
                await pincite.admin.reindex(["nope"])
            assert await pincite.admin.reindex([document]) == 1
            await pincite.documents.wait([document])
            assert not (await pincite.get(document)).stale
            assert len(await pincite.services.library.versions(await pincite.scope(), document)) == 1

    asyncio.run(go())


# --- what an index is made by -------------------------------------------------------------------------------------


def test_stored_index_settings_contain_no_secret() -> None:
    settings = Settings.model_validate({"embedding": {"api_key": "k", "base_url": "http://me:pw@host/v1"}})
    values = index_values(settings)
    assert "chunking.size" in values
    assert not {"embedding.api_key", "embedding.base_url", "rag.top_k"} & set(values)


def test_a_key_is_never_sent_to_the_server_of_another_index() -> None:
    settings = Settings.model_validate({"embedding": {"api_key": "k", "base_url": "http://new/v1"}})
    assert with_index_settings(settings, {"chunking.size": 100, "gone.setting": 1}).embedding.api_key is not None
    before = with_index_settings(settings, {"embedding.base_url": "http://old/v1"})
    assert (before.embedding.base_url, before.embedding.api_key) == ("http://old/v1", None)
