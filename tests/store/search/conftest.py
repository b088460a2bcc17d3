"""Fixtures of the tests of the search."""

import pytest

from pincite.store.search.resident import cache


@pytest.fixture(autouse=True)
def load_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Load an index after the first search that misses it, and again without a pause."""
    monkeypatch.setattr(cache, "MIN_SEARCHES", 1)
    monkeypatch.setattr(cache, "REST", 0.0)
