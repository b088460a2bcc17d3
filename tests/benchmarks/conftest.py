import logging
from collections.abc import Iterator

import pytest

from tests.reading import read_by_the_tests

__all__ = ["read_by_the_tests"]


@pytest.fixture(autouse=True)
def level() -> Iterator[None]:
    """Benchmarks choose how much is logged while they run; the next test starts as it was."""
    log = logging.getLogger("pincite")
    before = log.level
    yield
    log.setLevel(before)
