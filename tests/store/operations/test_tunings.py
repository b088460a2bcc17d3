"""Stored tunings."""

from typing import Any

import pytest

from pincite.core.accounts.access import Scope
from pincite.core.evaluations import AnswerQuestion
from pincite.errors import NotFound
from pincite.store.operations.evaluations import Evaluations
from pincite.store.operations.tunings import Tunings


def test_a_tuning_reports_progress_ends_and_is_no_run(with_store: Any) -> None:
    async def test(store: Any) -> None:
        evaluations, tunings, scope = Evaluations(store.database), Tunings(store.database), await store.scope()
        kept = await evaluations.import_set(scope, [AnswerQuestion("a", "A?", expect="refuse")])
        begun = await tunings.begin(scope, kept.id, 3)
        assert (begun.state, begun.set_id, begun.set_version, begun.progress) == ("running", kept.id, 1, 0.0)
        await tunings.advance(scope, begun.id, 0.5)
        assert (await tunings.get(scope, begun.id)).progress == 0.5
        await tunings.finish(scope, begun.id, {"proposal": None})
        done = await tunings.get(scope, begun.id)
        assert (done.state, done.progress, done.result, done.error) == ("done", 1.0, {"proposal": None}, None)
        failed = await tunings.begin(scope, kept.id, 3)
        await tunings.fail(scope, failed.id, "it broke\0")
        assert [(one.id, one.state, one.error) for one in await tunings.list(scope, 5)] == [
            (failed.id, "failed", "it broke "), (begun.id, "done", None),
        ]  # fmt: skip
        assert (await evaluations.list(scope))[0] == []
        with pytest.raises(NotFound):
            await evaluations.get(scope, begun.id)
        stranger = Scope("stranger", scope.realms)
        assert await tunings.list(stranger, 5) == []
        with pytest.raises(NotFound):
            await tunings.get(stranger, begun.id)

    with_store(test)
