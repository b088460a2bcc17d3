import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.levels import SCRIPT, Cost, measure, table
from pincite.stub import StubLLM


def test_every_level_is_asked_and_costs_no_less_than_the_one_before(
    open_pincite: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("# Shutter\n\nThe dome shutter jammed because a heating cable had failed.")

    async def go(stub: StubLLM) -> dict[Any, list[Cost]]:
        async with open_pincite(llm__base_url=stub.url, rag__similarity_threshold=0.0) as pincite:
            await pincite.add(tmp_path / "a.md")
            return await measure(pincite, stub, ["Why did the dome shutter jam in November?"])

    with StubLLM(answers=SCRIPT) as stub:
        found = asyncio.run(go(stub))
    assert [costs[0].calls for costs in found.values()] == [1, 1, 5, 7]
    searches = [costs[0].searches for costs in found.values()]
    assert searches == sorted(searches)
    assert table(found).count("\n") == 5
