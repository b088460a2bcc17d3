from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pincite.core.answers import Degraded
from pincite.core.callers import Scope
from pincite.core.run import Span
from pincite.errors import NotFound
from pincite.store.traces import Trace, Traces


def trace(trace_id: str, started: datetime) -> Trace:
    spans = (Span("retrieve", None, 0.5, 12.0, None, {"hits": [["a", 0.5]]}), Span("rank", 0, 3.0, 1.0, "Oops: x", {}))
    return Trace(trace_id, "query", None, "hybrid", started, 15.0, None, (Degraded("embedding", "down"),), spans)


def test_a_trace_comes_back_as_it_was(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        traces, scope = Traces(shelf.database), await shelf.scope()
        kept = trace("t1", datetime.now(UTC))
        await traces.keep("local", kept)
        assert await traces.get(scope, "t1") == kept
        assert [found.id for found in await traces.recent(scope, 10)] == ["t1"]
        with pytest.raises(NotFound):
            await traces.get(Scope("stranger", scope.realms), "t1")
        assert await traces.recent(Scope("stranger", scope.realms), 10) == []

    with_shelf(test)


def test_old_traces_are_forgotten(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        traces, scope = Traces(shelf.database), await shelf.scope()
        now = datetime.now(UTC)
        await traces.keep("local", trace("old", now - timedelta(days=31)))
        await traces.keep("local", trace("new", now))
        assert await traces.forget_old(30) == 1
        assert [found.id for found in await traces.recent(scope, 10)] == ["new"]

    with_shelf(test)
