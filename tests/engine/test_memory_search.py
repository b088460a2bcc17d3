"""Searches with a warm index in memory: after each change, what a request finds is what is there now."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import psycopg.conninfo
import pytest

from pincite.core.accounts.access import LOCAL, Caller, ShareRequest
from pincite.core.documents.document import Upload
from pincite.core.query.question import Filters, Question
from pincite.core.traces import TraceFilter
from pincite.engine.app import AsyncPincite
from pincite.errors import NotFound, StoreDown
from pincite.providers.scripted import Options, ScriptedEmbedder
from pincite.store.search.resident import cache as module

Open = Callable[..., Any]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Load an index after the first search that misses it, and again without a pause."""
    monkeypatch.setattr(module, "MIN_SEARCHES", 1)
    monkeypatch.setattr(module, "REST", 0.0)


class Other(ScriptedEmbedder):
    """Another embedding model with different vectors."""

    name = "other/1"

    async def embed(self, texts: Any, *, as_query: bool) -> Any:
        return [vector[::-1] for vector in await super().embed(texts, as_query=as_query)]


async def put(pincite: AsyncPincite, name: str, text: str, folder: str = "") -> str:
    pincite.services.workers.start()
    added = await pincite.documents.upload(Upload(name, text.encode(), folder))
    async with asyncio.timeout(120):
        await pincite.documents.wait([added.document.id])
    return added.document.id


async def found(pincite: AsyncPincite, text: str, person: str = "local", **filters: Any) -> list[str]:
    asked = Question(text, filters=Filters(**filters))
    caller = Caller(person, "administrator" if person == "local" else "reader")
    result = await pincite.search(asked, caller=caller)
    return [hit.chunk.text for hit in result.hits]


async def warm_up(pincite: AsyncPincite, person: str = "local") -> None:
    """Search until the index of a person is in memory."""
    resident, scope = pincite.services.tools.resident, await pincite.services.library.scope(person)
    await found(pincite, "heron", person)
    await resident.settle()
    assert resident.is_current(scope, pincite.services.tools.vectors)


async def is_warm(pincite: AsyncPincite, person: str = "local") -> bool:
    scope = await pincite.services.library.scope(person)
    return pincite.services.tools.resident.is_current(scope, pincite.services.tools.vectors)


def test_results_are_the_same_with_and_without_memory(open_pincite: Open) -> None:
    async def go() -> None:
        async with open_pincite() as with_memory, open_pincite(database__index_memory_mb=0) as without:
            for n, animal in enumerate(("heron", "otter", "fox", "heron chick")):
                await put(with_memory, f"{n}.md", f"# The {animal} {n}\n\nThe {animal} sleeps. See The fox 2.\n")
            await warm_up(with_memory)
            for text in ("Where does the heron sleep?", "otter", "The fox 2", "hero sleps", "nothing at all"):
                for strategy in ("hybrid", "dense_only", "lexical_only"):
                    one, other = [
                        await pincite.search(Question(text, strategy=strategy))  # type: ignore[arg-type]
                        for pincite in (with_memory, without)
                    ]
                    assert await is_warm(with_memory)
                    assert [hit.chunk for hit in one.hits] == [hit.chunk for hit in other.hits]
                    scores = [hit.score for hit in other.hits]
                    assert [hit.score for hit in one.hits] == pytest.approx(scores, abs=1e-5)
            assert without.services.tools.resident.size == 0

    asyncio.run(go())


def test_writes_of_another_process_are_found_at_once(open_pincite: Open) -> None:
    async def go() -> None:
        async with open_pincite() as reader, open_pincite() as writer:
            first = await put(writer, "a.md", "The heron stands.")
            await warm_up(reader)
            assert await found(reader, "heron") == ["The heron stands."]
            await put(writer, "b.md", "The heron flies.")
            assert sorted(await found(reader, "heron")) == ["The heron flies.", "The heron stands."]
            await warm_up(reader)
            await writer.documents.remove(first)
            assert await found(reader, "heron") == ["The heron flies."]
            await warm_up(reader)
            assert await found(reader, "heron") == ["The heron flies."]

    asyncio.run(go())


def test_a_revoked_share_is_not_found_with_a_warm_index(open_pincite: Open) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            await pincite.services.users.add("local", "bob", "reader")
            document = await put(pincite, "a.md", "The heron stands.")
            scope, rights = await pincite.scope(), pincite.services.permissions
            assert await found(pincite, "heron", "bob") == []
            await rights.share(scope, document, await rights.readers(scope, ShareRequest(users=("bob",))))
            await warm_up(pincite, "bob")
            assert await found(pincite, "heron", "bob") == ["The heron stands."]
            await rights.share(await pincite.scope(), document, None)
            assert await found(pincite, "heron", "bob") == []
            assert await found(pincite, "heron") == ["The heron stands."]

    asyncio.run(go())


def test_documents_that_are_handed_over_are_found_in_their_new_folder(open_pincite: Open) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            users = pincite.services.users
            ada, bob = await users.add("local", "ada", "editor"), await users.add("local", "bob", "editor")
            pincite.services.workers.start()
            upload = Upload("a.md", b"The heron stands.", "in")
            added = await pincite.documents.upload(upload, caller=Caller(ada.id, "editor"))
            await pincite.documents.wait([added.document.id], caller=Caller(ada.id, "editor"))
            await warm_up(pincite, ada.id)
            assert await found(pincite, "heron", ada.id, folder="in") == ["The heron stands."]
            await pincite.services.permissions.hand_over("local", ada, bob)
            for _ in range(2):
                with pytest.raises(NotFound):
                    await found(pincite, "heron", bob.id, folder="in")
                assert await found(pincite, "heron", bob.id, folder="ada/in") == ["The heron stands."]
                assert await found(pincite, "heron", ada.id) == []
                await warm_up(pincite, bob.id)

    asyncio.run(go())


def test_a_switched_index_is_searched_with_its_own_vectors(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pincite.providers.cosine.Options", Options, raising=False)
    monkeypatch.setattr("pincite.providers.cosine.make_embedder", lambda options: Other(options), raising=False)
    data = tmp_path / "data"
    data.mkdir()
    (data / "settings.toml").write_text('[embedding]\nprovider = "scripted"\n', encoding="utf-8")

    async def go() -> None:
        chosen = {"data": data, "database.url": database_url, "ingest.workers": 1}
        async with AsyncPincite(settings=chosen) as pincite, AsyncPincite(settings=chosen) as other:
            for n in range(3):
                await put(pincite, f"{n}.md", f"The heron number {n}.")
            for one in (pincite, other):
                await warm_up(one)
            model = other.services.tools.model
            await pincite.services.live_settings.set({"embedding.provider": "cosine"}, LOCAL)
            await pincite.admin.reindex()
            async with asyncio.timeout(60):
                while pincite.services.tools.model == model or other.services.tools.model == model:
                    await asyncio.sleep(0.1)
                    assert len(await found(other, "heron number 1")) == 3
            for one in (pincite, other):
                for _ in range(2):
                    result = await one.search(Question("The heron number 1.", strategy="dense_only"))
                    assert result.degraded == ()
                    assert result.hits[0].chunk.text == "The heron number 1."
                    assert result.hits[0].similarity == pytest.approx(1.0, abs=1e-3)
                    await warm_up(one)

    asyncio.run(go())


def test_after_a_restart_the_index_is_empty_and_searches_find(open_pincite: Open) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            await put(pincite, "a.md", "The heron stands.")
            await warm_up(pincite)
        async with open_pincite() as pincite:
            assert pincite.services.tools.resident.size == 0
            assert await found(pincite, "heron") == ["The heron stands."]

    asyncio.run(go())


def test_a_search_with_a_warm_index_takes_one_round_trip_and_two_with_a_filter(open_pincite: Open) -> None:
    async def go() -> None:
        async with open_pincite(traces__content=False) as pincite:
            await put(pincite, "a.md", "The heron stands.")
            await warm_up(pincite)
            await pincite.services.trace_sink.close()
            database, trips = pincite.services.database, list[str]()
            pooled = database._pooled

            def counted() -> Any:
                task = asyncio.current_task()
                trips.append(task.get_name() if task else "")
                return pooled()

            database._pooled = counted
            asking = asyncio.current_task()
            assert asking is not None
            asking.set_name("asking")
            assert await found(pincite, "heron stands") == ["The heron stands."]
            assert trips.count("asking") == 1  # the scope with the revisions, and the texts
            del trips[:]
            assert await found(pincite, "heron stands", folder="") == ["The heron stands."]
            assert trips.count("asking") > 1  # the scope first, then whether there is such a folder, and the texts

    asyncio.run(go())


def test_a_scope_that_changed_since_the_last_search_is_read_again(open_pincite: Open) -> None:
    async def go() -> None:
        async with open_pincite() as pincite, open_pincite() as other:
            users, rights = pincite.services.users, pincite.services.permissions
            await users.add("local", "bob", "reader")
            await users.add_group("local", "staff")
            shared, own = (
                await put(pincite, "a.md", "The heron stands."),
                await put(pincite, "b.md", "The heron flies."),
            )
            scope = await pincite.scope()
            await rights.share(scope, shared, await rights.readers(scope, ShareRequest(groups=("staff",))))
            await rights.share(scope, own, await rights.readers(scope, ShareRequest(users=("bob",))))
            for joins, expected in (
                (True, 2),
                (False, 1),
                (True, 2),
            ):  # no revision changes: the documents are the same
                await warm_up(pincite, "bob")
                assert len(await found(pincite, "heron", "bob")) in (1, 2)
                await (other.services.users.join if joins else other.services.users.leave)("local", "staff", "bob")
                assert len(await found(pincite, "heron", "bob")) == expected
                assert await found(pincite, "otter quagga", "bob") == await found(other, "otter quagga", "bob")
            await users.suspend("local", "bob", suspended=True)
            assert await found(pincite, "heron", "bob") == []

    asyncio.run(go())


def test_a_search_that_begins_again_leaves_one_trace(open_pincite: Open) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            await put(pincite, "a.md", "The heron stands.")
            await warm_up(pincite)
            before = len((await pincite.questions.traces.list(await pincite.scope(), TraceFilter(kind="search")))[0])
            await put(pincite, "b.md", "The heron flies.")
            assert len(await found(pincite, "heron")) == 2
            traces, _ = await pincite.questions.traces.list(await pincite.scope(), TraceFilter(kind="search"))
            assert len(traces) == before + 1
            assert traces[0].error is None

    asyncio.run(go())


def test_nothing_is_served_from_memory_while_the_database_is_down(open_pincite: Open) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            await put(pincite, "a.md", "The heron stands.")
            await warm_up(pincite)
            database = pincite.services.database
            pool = database._pool
            await pool.close()
            with pytest.raises(StoreDown):
                await found(pincite, "heron")
            database._pool = type(pool)(
                database._url, min_size=1, open=False, configure=pool._configure, kwargs=pool.kwargs
            )
            await database._pool.open(wait=True)
            assert await found(pincite, "heron") == ["The heron stands."]

    asyncio.run(go())


def test_the_scope_of_a_person_who_reads_too_many_realms_is_not_remembered(
    open_pincite: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            await put(pincite, "a.md", "The heron stands.")
            await warm_up(pincite)
            assert pincite.questions._scopes.keys() == {"local"}
            monkeypatch.setattr(module, "MAX_REALMS", 0)
            monkeypatch.setattr("pincite.engine.questions.MAX_REALMS", 0)
            assert not await is_warm(pincite)
            assert await found(pincite, "heron") == ["The heron stands."]
            assert pincite.questions._scopes == {}

    asyncio.run(go())


def test_what_is_remembered_of_lost_transactions_is_not_taken_for_what_came_after(
    postgres: str, database_url: str, tmp_path: Path, read_here: None
) -> None:
    name = psycopg.conninfo.conninfo_to_dict(database_url)["dbname"]
    chosen = {"data": tmp_path / "data", "database.url": database_url, "embedding.provider": "scripted"}

    def administer(*statements: str) -> None:
        with psycopg.connect(postgres, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    async def put_as(pincite: AsyncPincite, person: str, text: str) -> None:
        pincite.services.workers.start()
        caller = Caller(person, "editor")
        added = await pincite.documents.upload(Upload("a.md", text.encode()), caller=caller)
        async with asyncio.timeout(120):
            await pincite.documents.wait([added.document.id], caller=caller)

    async def go() -> None:
        async with AsyncPincite(settings=chosen) as pincite:
            for person in ("ada", "bob"):
                await pincite.services.users.add("local", person, "editor")
        administer(f'create database "{name}_before" template "{name}" strategy file_copy')
        try:
            async with AsyncPincite(settings=chosen) as pincite:
                await put_as(pincite, "ada", "The heron is a secret.")
                await warm_up(pincite, "ada")
                assert await found(pincite, "heron", "ada") == ["The heron is a secret."]
                administer(  # as a replica that had not received the last transactions
                    f'alter database "{name}" allow_connections false',
                    f"select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '{name}'",
                    f'alter database "{name}" rename to "{name}_lost"',
                    f'alter database "{name}_before" rename to "{name}"',
                )
                async with AsyncPincite(settings=chosen) as other:
                    await put_as(other, "bob", "The heron stands.")  # with the numbers that were ada's
                async with asyncio.timeout(60):
                    while await _is_down(pincite):
                        await asyncio.sleep(0.2)
                for _ in range(3):
                    assert await found(pincite, "heron", "bob") == ["The heron stands."]
                    assert await found(pincite, "heron", "ada") == []
                    await pincite.services.tools.resident.settle()
        finally:
            for one in ("before", "lost"):
                administer(f'drop database if exists "{name}_{one}" with (force)')

    asyncio.run(go())


async def _is_down(pincite: AsyncPincite) -> bool:
    try:
        await pincite.scope()
    except StoreDown:
        return True
    return False
