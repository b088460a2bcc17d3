import asyncio
from collections.abc import AsyncIterator, Callable

from pincite.core.answers import Piece, Prompt
from pincite.core.protocols import Offered
from pincite.core.run import Run
from pincite.query.meet import meet


class Stranger:
    """Does not know its own name until it is asked."""

    name = "somebody"
    window = 8192

    async def meet(self) -> None:
        self.name, self.window = "qwen3:8b", 40_000

    async def list_models(self) -> list[Offered]:
        return [Offered("qwen3:8b")]

    async def write(self, prompt: Prompt) -> AsyncIterator[Piece]:
        yield Piece("x", finish_reason="stop")


def test_a_model_behind_a_server_is_met_before_anything_is_cut_to_its_measure(make_run: Callable[..., Run]) -> None:
    stranger = Stranger()
    asyncio.run(meet(make_run(llm=stranger)))
    assert (stranger.name, stranger.window) == ("qwen3:8b", 40_000)


def test_a_model_without_a_server_needs_no_introduction(make_run: Callable[..., Run]) -> None:
    run = make_run()
    asyncio.run(meet(run))
    assert run.degraded == []
