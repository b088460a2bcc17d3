"""The graph of one person says nothing about that of another; the long form is `./run bench graph_canaries`."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.hostile.graph_canaries import CANARIES, compare


@pytest.mark.slow
def test_hidden_graphs_change_no_result_and_no_canary_comes_back(open_pincite: Callable[..., Any]) -> None:
    async def go() -> None:
        async with open_pincite(graph__build="rules") as pincite:
            differ, leaks, found, control = await compare(pincite, queries=150, hidden=24)
            assert (differ, leaks) == (0, 0)
            assert found > 50
            assert control == len(CANARIES)

    asyncio.run(go())
