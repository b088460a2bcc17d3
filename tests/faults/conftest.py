"""One engine and one stub for the tests of model faults."""

from collections.abc import Iterator

import pytest

from .bench import Bench, opened


@pytest.fixture(scope="module")
def bench(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with opened(module_database_url, tmp_path_factory.mktemp("models")) as made:
        yield made
