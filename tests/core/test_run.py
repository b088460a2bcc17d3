import asyncio
import time
from collections.abc import Sequence
from types import SimpleNamespace

import pytest

from pincite.config.sources import load_settings
from pincite.core.accounts.access import LOCAL, Scope
from pincite.core.request_context import read_traceparent
from pincite.core.run import Run, prefetched
from pincite.errors import Invalid, OverBudget, Unavailable
from pincite.providers.scripted import Options, ScriptedEmbedder


def make_run(seconds: float = 10.0) -> Run:
    scope, settings = Scope("local", (1,)), load_settings(env={})
    deadline = time.monotonic() + seconds
    return Run("t", None, settings, LOCAL, scope, deadline, lambda _event: None)  # type: ignore[arg-type]


async def double(run: Run, number: int) -> int:
    run.observe(number=number)
    return 2 * number


async def broken(run: Run, number: int) -> int:
    raise Unavailable("it is down")


async def wrong(run: Run, number: int) -> int:
    raise Invalid("no")


async def outer(run: Run, number: int) -> int:
    return await run.step(double, number)


def test_a_step_records_a_span() -> None:
    run = make_run()
    assert asyncio.run(run.step(outer, 2)) == 4
    assert [(span.name, span.parent) for span in run.spans] == [("outer", None), ("double", 0)]
    assert run.spans[1].attributes == {"number": 2}
    assert run.spans[0].duration_ms >= run.spans[1].duration_ms
    assert set(run.durations()) == {"outer"}


def test_an_attempt_degrades_only_on_unavailable() -> None:
    run = make_run()
    assert asyncio.run(run.attempt(7, broken, 1)) == 7
    assert [(note.stage, note.reason) for note in run.degraded] == [("broken", "it is down")]
    with pytest.raises(Invalid):
        asyncio.run(run.attempt(7, wrong, 1))
    assert run.spans[-1].error == "Invalid: no"


def test_a_repeated_degradation_is_recorded_once() -> None:
    run = make_run()
    asyncio.run(run.attempt(7, broken, 1))
    asyncio.run(run.attempt(7, broken, 2))
    assert len(run.degraded) == 1


def test_no_stage_starts_after_the_deadline() -> None:
    with pytest.raises(OverBudget, match="before double"):
        asyncio.run(make_run(seconds=-1).step(double, 1))


def test_cancelling_is_not_degrading() -> None:
    async def go() -> None:
        run = make_run()

        async def forever(run: Run) -> None:
            await asyncio.sleep(60)

        task = asyncio.create_task(run.attempt(None, forever))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert run.degraded == []
        assert run.spans[0].error == "cancelled"

    asyncio.run(go())


@pytest.mark.parametrize(
    ("header", "span"),
    [
        (f"00-{'a' * 32}-{'b' * 16}-01", f"{'a' * 32}-{'b' * 16}"),
        (f"cc-{'a' * 32}-{'b' * 16}-01-more", f"{'a' * 32}-{'b' * 16}"),
        (f"00-{'a' * 32}-{'b' * 16}-01-more", None),
        (f"00-{'0' * 32}-{'b' * 16}-01", None),
        (f"00-{'a' * 32}-{'0' * 16}-01", None),
        (f"ff-{'a' * 32}-{'b' * 16}-01", None),
        (f"00-{'A' * 32}-{'b' * 16}-01", None),
        ("00-%-_-01", None),
        ("", None),
    ],
)
def test_a_valid_traceparent_header_is_parsed(header: str, span: str | None) -> None:
    assert read_traceparent(header) == span


def test_finish_runs_a_stage_after_the_deadline() -> None:
    run = make_run(seconds=-1)
    with pytest.raises(OverBudget):
        asyncio.run(run.step(double, 2))
    assert asyncio.run(run.finish(double, 2)) == 4
    assert [span.name for span in run.spans] == ["double"]


def test_a_text_is_embedded_once_in_a_request() -> None:
    asked: list[list[str]] = []

    class Counting(ScriptedEmbedder):
        async def embed(self, texts: Sequence[str], *, as_query: bool) -> list[list[float]]:
            asked.append(list(texts))
            return await super().embed(texts, as_query=as_query)

    run = make_run()
    run.kit = SimpleNamespace(embedder=Counting(Options()), query_vectors=None)  # type: ignore[assignment]
    first = asyncio.run(run.embed(["a", "b", "a"]))
    assert asyncio.run(run.embed(["b", "c"]))[0] == first[1]
    assert first[0] == first[2]
    assert asked == [["a", "b"], ["c"]]


def test_queries_are_kept_for_later_requests_and_other_texts_are_not() -> None:
    asked: list[list[str]] = []
    kept: dict[str, Sequence[float]] = {}

    class Counting(ScriptedEmbedder):
        async def embed(self, texts: Sequence[str], *, as_query: bool) -> list[list[float]]:
            asked.append(list(texts))
            return await super().embed(texts, as_query=as_query)

    class Kept:
        async def find(self, person: str, texts: Sequence[str]) -> dict[str, Sequence[float]]:
            return {text: kept[text] for text in texts if text in kept}

        async def save(self, person: str, vectors: dict[str, Sequence[float]]) -> None:
            kept.update(vectors)

    async def ask(*queries: str) -> list[object]:
        run = make_run()
        run.kit = SimpleNamespace(embedder=Counting(Options()), query_vectors=Kept())  # type: ignore[assignment]
        await run.prefetch_queries(queries)
        vectors = await run.embed_queries(queries)
        await run.embed(["a claim"])
        return list(vectors)

    async def go() -> None:
        first = await ask("a", "b", "c")
        assert asked == [["a", "b", "c"], ["a claim"]]
        assert await ask("c", "a") == [first[2], first[0]]
        await ask("a", "d")
        assert asked[2:] == [["a claim"], ["d"], ["a claim"]]
        assert set(kept) == {"a", "b", "c", "d"}

    asyncio.run(go())


def test_a_failed_embedder_is_not_called_again() -> None:
    run, calls = make_run(), list[int]()

    class Failing(ScriptedEmbedder):
        async def embed(self, texts: Sequence[str], *, as_query: bool) -> list[list[float]]:
            calls.append(len(texts))
            raise Unavailable("it is down")

    run.kit = SimpleNamespace(embedder=Failing(Options()), query_vectors=None)  # type: ignore[assignment]
    for _ in range(2):
        with pytest.raises(Unavailable, match="it is down"):
            asyncio.run(run.embed(["a"]))
    assert calls == [1]


def test_a_prefetched_text_is_embedded_once_and_unused_prefetches_are_cancelled() -> None:
    asked: list[list[str]] = []

    class Waiting(ScriptedEmbedder):
        async def embed(self, texts: Sequence[str], *, as_query: bool) -> list[list[float]]:
            asked.append(list(texts))
            if texts == ["unwanted"]:
                await asyncio.Event().wait()
            return await super().embed(texts, as_query=as_query)

    async def go() -> None:
        run = make_run()
        run.kit = SimpleNamespace(embedder=Waiting(Options()), query_vectors=None)  # type: ignore[assignment]
        for text in ("a", "a", "unwanted"):
            await run.prefetch_queries([text])
        assert len(await run.embed(["a", "b"])) == 2
        await run.close()
        assert sorted(asked) == [["a"], ["b"], ["unwanted"]]

    asyncio.run(go())


def test_a_run_uses_earlier_prefetches_and_unused_ones_are_cancelled() -> None:
    asked: list[str] = []
    ended: list[str] = []

    class Slow(ScriptedEmbedder):
        async def embed(self, texts: Sequence[str], *, as_query: bool) -> list[list[float]]:
            asked.extend(texts)
            try:
                await asyncio.sleep(60 if texts == ["unwanted"] else 0)
            except asyncio.CancelledError:
                ended.extend(texts)
                raise
            return await super().embed(texts, as_query=as_query)

    async def go() -> None:
        embedder, run = Slow(Options()), make_run()
        run.kit = SimpleNamespace(embedder=embedder, query_vectors=None)  # type: ignore[assignment]
        async with prefetched(embedder, ["a", "unwanted"]) as run.prefetched:
            await run.prefetch_queries(["a"])
            assert await run.embed(["a"]) == await run.embed(["a"])
            assert asked == ["a", "unwanted"]
        assert ended == ["unwanted"]

    asyncio.run(go())


def test_a_failed_prefetch_is_recorded_like_any_embedding() -> None:
    class Down(ScriptedEmbedder):
        async def embed(self, texts: Sequence[str], *, as_query: bool) -> list[list[float]]:
            raise Unavailable("down")

    async def go() -> None:
        embedder, run = Down(Options()), make_run()
        run.kit = SimpleNamespace(embedder=embedder, query_vectors=None)  # type: ignore[assignment]
        async with prefetched(embedder, ["a"]) as run.prefetched:
            with pytest.raises(Unavailable, match="down"):
                await run.embed(["a"])
        assert run.embedding_error is not None

    asyncio.run(go())
