"""After concurrent operations no document is incomplete."""

import asyncio
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from tests.faults.races import RACES, SETTINGS, Race
from tests.faults.wholeness import INCOMPLETE

ROUNDS = 8
"""Rounds with different delays, so that the operations meet at different moments."""


@pytest.mark.slow
@pytest.mark.parametrize("race", RACES, ids=[race.__name__ for race in RACES])
def test_concurrent_operations_leave_a_consistent_library(
    race: Race, open_pincite: Callable[..., Any], database_url: str
) -> None:
    async def go() -> None:
        async with open_pincite(**{key.replace(".", "__"): value for key, value in SETTINGS.items()}) as pincite:
            pincite.services.workers.start()
            await race(pincite, ROUNDS)

    asyncio.run(go())
    with psycopg.connect(database_url) as connection:
        assert connection.execute(INCOMPLETE).fetchall() == []
