"""One engine and one stub for the tests of model faults."""

from collections.abc import Iterator

import pytest

from pincite.store.search.query_vectors import QueryVectorCache

from .bench import Bench, opened


@pytest.fixture(scope="module")
def bench(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with opened(module_database_url, tmp_path_factory.mktemp("models")) as made:
        yield made


@pytest.fixture(autouse=True)
def embedded_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Embed every query again: these tests count the calls of one question, asked many times."""

    async def find_nothing(*_given: object) -> dict[str, list[float]]:
        return {}

    monkeypatch.setattr(QueryVectorCache, "find", find_nothing)
