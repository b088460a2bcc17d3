import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from pincite.core.accounts.access import Scope
from pincite.core.query.answer import Degraded
from pincite.core.traces import Content, Span, Trace, TraceFilter, TraceOutcome
from pincite.errors import Invalid, NotFound
from pincite.store.access.users import Users
from pincite.store.database import fetch_one
from pincite.store.operations.traces import TraceStore, library_sizes
from tests.store.waiting import somebody_waits

NOW = datetime.now(UTC)
ANY = TraceFilter()


def trace(trace_id: str, started: datetime = NOW, **more: Any) -> Trace:
    spans = (
        Span("retrieval", None, 0.5, 12.0, None, {"found": 3}),
        Span("ranking", 0, 3.0, 1.0, "Oops: x", {"hits": more.pop("hits", [])}),
    )
    return replace(
        Trace(
            trace_id,
            "query",
            started,
            15.0,
            "hybrid",
            degraded=(Degraded("query_embedding", "down"),),
            spans=spans,
            request_id="r" * 16,
            options={"top_k": 3},
            settings={"rag.fusion": "rrf"},
            outcome=TraceOutcome(0.5, "medium", 1.0, ("d.v.0",), ("d.v.0",), 12, "m", "stop"),
        ),
        **more,
    )


async def listed(traces: TraceStore, scope: Scope, wanted: TraceFilter = ANY) -> list[str]:
    return [found.id for found in (await traces.list(scope, wanted))[0]]


def test_a_trace_is_read_as_it_was_stored(with_store: Any) -> None:
    async def test(store: Any) -> None:
        traces, scope = TraceStore(store.database), await store.scope()
        content = Content("q", ("also",), "q alone", "be brief", "an answer")
        kept = trace("t1", content=content, owner="local")
        await traces.keep("local", kept)
        assert await traces.get(scope, "t1") == kept
        assert await listed(traces, scope) == ["t1"]
        assert (await traces.list(scope, ANY))[0] == [replace(kept, spans=())]

    with_store(test)


def test_nobody_sees_the_traces_of_others(with_store: Any) -> None:
    async def test(store: Any) -> None:
        traces, scope = TraceStore(store.database), await store.scope()
        await traces.keep("local", trace("t1", remote=f"{'a' * 32}-{'b' * 16}"))
        stranger = Scope("stranger", scope.realms)
        assert await listed(traces, stranger) == []
        for trace_id in ("t1", "a" * 32):
            with pytest.raises(NotFound):
                await traces.get(stranger, trace_id)

    with_store(test)


def test_administrators_see_traces_of_others_without_their_texts(with_store: Any) -> None:
    async def test(store: Any) -> None:
        traces, scope = TraceStore(store.database), await store.scope()
        await Users(store.database).add("local", "anna", "administrator")
        content = Content("q", (), "q alone", "be brief", "an answer")
        of_folders = {"category_labels": {"hr": "Secret"}, "rag.top_k": 5}
        await traces.keep("local", trace("t1", content=content, options={"folder": "hr"}, settings=of_folders))
        anna = Scope("anna", scope.realms)
        everybody = TraceFilter(everybody=True)
        [seen], _ = await traces.list(anna, everybody)
        assert (seen.owner, seen.content, seen.options, seen.settings) == ("local", None, {}, {"rag.top_k": 5})
        assert (await traces.get(anna, "t1", everybody=True)).spans
        assert (await traces.list(anna, ANY))[0] == []
        await Users(store.database).change_role("local", "anna", "editor")
        assert (await traces.list(anna, everybody))[0] == []  # the database itself refuses it
        async with store.database.transaction("local") as connection:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                await connection.execute("delete from told_trace")

    with_store(test)


def test_a_client_trace_id_returns_its_newest_request(with_store: Any) -> None:
    async def test(store: Any) -> None:
        traces, scope = TraceStore(store.database), await store.scope()
        remote = f"{'a' * 32}-{'b' * 16}"
        await traces.keep("local", trace("old", NOW - timedelta(seconds=5), remote=remote))
        await traces.keep("local", trace("new", remote=remote))
        assert (await traces.get(scope, "a" * 32)).id == "new"
        with pytest.raises(NotFound):
            await traces.get(scope, "%")

    with_store(test)


def test_lists_are_filtered_and_paged(with_store: Any) -> None:
    async def test(store: Any) -> None:
        traces, scope = TraceStore(store.database), await store.scope()
        for number in range(5):
            await traces.keep("local", trace(f"t{number}", NOW - timedelta(minutes=number)))
        await traces.keep("local", trace("same", NOW))
        await traces.keep("local", trace("slow", NOW - timedelta(hours=1), kind="search", duration_ms=900.0))
        await traces.keep("local", trace("bad", NOW - timedelta(hours=2), error="Invalid: no", code="invalid"))
        assert await listed(traces, scope, TraceFilter(kind="search")) == ["slow"]
        assert await listed(traces, scope, TraceFilter(errors=True)) == ["bad"]
        await traces.keep("local", trace("whole", NOW - timedelta(hours=3), degraded=()))
        assert "whole" not in await listed(traces, scope, TraceFilter(degraded=True))
        assert await listed(traces, scope, TraceFilter(slower_than_ms=900)) == ["slow"]
        assert await listed(traces, scope, TraceFilter(since=NOW - timedelta(seconds=90))) == ["t0", "same", "t1"]
        seen, cursor = list[str](), None
        while True:
            page, cursor = await traces.list(scope, TraceFilter(limit=3, cursor=cursor))
            seen += [found.id for found in page]
            if cursor is None:
                break
        assert seen == ["t0", "same", "t1", "t2", "t3", "t4", "slow", "bad", "whole"]
        for wrong in ("?", "bm9wZQ==", "eCB5"):
            with pytest.raises(Invalid, match="cursor"):
                await traces.list(scope, TraceFilter(cursor=wrong))

    with_store(test)


def test_the_answer_in_a_trace_is_removed_with_its_documents(with_store: Any) -> None:
    async def test(store: Any) -> None:
        traces, scope = TraceStore(store.database), await store.scope()
        document_id = await store.put("a.md", "One passage.")
        other_id = await store.put("b.md", "Another passage.")
        shown = ({"role": "user", "content": "[Source 1] One passage."},)
        words = Content("q", answer="One passage. [Source 1]", prompt=shown)
        await traces.keep("local", trace("t1", content=words, hits=[[f"{document_id}.v.0", 1.0]]))
        await traces.keep("local", trace("t2", content=words, hits=[[f"{other_id}.v.0", 1.0]]))
        await store.removal.remove(scope, document_id)
        assert (await traces.get(scope, "t1")).content == Content("q")
        assert (await traces.get(scope, "t2")).content == words
        await traces.keep("local", trace("late", content=words, hits=[[f"{document_id}.v.0", 1.0]]))
        assert (await traces.get(scope, "late")).content == Content("q")

    with_store(test)


def test_a_trace_written_while_its_document_is_removed_has_no_answer(with_store: Any, database_url: str) -> None:
    async def test(store: Any) -> None:
        traces, scope = TraceStore(store.database), await store.scope()
        document_id = await store.put("a.md", "One passage.")
        words = Content("q", answer="One passage. [Source 1]")
        with psycopg.connect(database_url) as other:
            other.execute("delete from pincite.document where id = %s", (document_id,))
            late = trace("late", content=words, hits=[[f"{document_id}.v.0", 1.0]])
            keeping = asyncio.create_task(traces.keep("local", late))
            while not somebody_waits(other):
                await asyncio.sleep(0.01)
                assert not keeping.done()
        await keeping
        assert (await traces.get(scope, "late")).content == Content("q")

    with_store(test)


def test_old_traces_are_removed_with_their_spans(with_store: Any) -> None:
    async def test(store: Any) -> None:
        traces, scope = TraceStore(store.database), await store.scope()
        await traces.keep("local", trace("old", NOW - timedelta(days=31)))
        await traces.keep("local", trace("new"))
        assert await traces.remove_old(30) == 1
        assert await listed(traces, scope) == ["new"]
        async with store.database.transaction("local") as connection:
            assert await fetch_one(connection, "select count(distinct trace_id) from span") == (1,)

    with_store(test)


def test_a_trace_cannot_be_written_for_another_person(with_store: Any) -> None:
    async def test(store: Any) -> None:
        async with store.database.transaction("stranger") as connection:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                await connection.execute(
                    "insert into trace (id, owner, kind, started_at, duration_ms) values ('x', 'local', 'q', now(), 1)"
                )

    with_store(test)


def test_documents_chunks_and_jobs_are_counted_by_state(with_store: Any) -> None:
    async def test(store: Any) -> None:
        assert (await library_sizes(store.database))["chunks"] == {"served": 0}
        await store.put("a.md", "One.", "Two.")
        await store.accept("b.md", "Waits.")
        await store.accept("c.md", "Is worked on.")
        await store.jobs.claim("w", 60)
        found = await library_sizes(store.database)
        assert found["documents"] == {"completed": 1, "pending": 2}
        assert found["chunks"] == {"served": 2}
        assert found["jobs"] == {"running": 1, "waiting": 1}
        assert set(found["connections"]) == {"open", "idle", "most", "waited_for"}
        assert found["connections"]["most"] == 6

    with_store(test)
