import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from pincite.core.protocols import ServerModel
from pincite.core.query.prompt import Message, Prompt, StreamPart
from pincite.core.query.question import Sampling
from pincite.outbound.client import Server
from pincite.outbound.llm.hosted import CompletionRequest, Options, ServedLLM


class Echo(ServedLLM):
    """Says what it was ordered to do."""

    def __init__(self, **options: Any) -> None:
        super().__init__(Options(**options), Server("http://127.0.0.1:9", "llm", 1.0))
        self.orders: list[CompletionRequest] = []

    async def list_models(self) -> list[ServerModel]:
        return [ServerModel("first"), ServerModel("second")]

    def _body(self, order: CompletionRequest) -> dict[str, Any]:
        self.orders.append(order)
        return {}

    async def _pieces(self, body: dict[str, Any]) -> AsyncGenerator[StreamPart, None]:
        yield StreamPart("x", finish_reason="stop")


def ordered(wish: Sampling = Sampling(), **options: Any) -> CompletionRequest:  # noqa: B008
    async def go() -> CompletionRequest:
        llm = Echo(**options)
        async for _ in llm.write(Prompt("q", (Message("user", "q"),), (), 1, wish)):
            pass
        return llm.orders[0]

    return asyncio.run(go())


def test_request_values_override_settings_and_settings_override_the_table() -> None:
    table = ordered(model="qwen2.5:7b")
    assert (table.temperature, table.top_p, table.max_tokens) == (0.7, 0.95, 1000)
    setting = ordered(model="qwen2.5:7b", temperature=0.0, top_p=0.5, max_tokens=20)
    assert (setting.temperature, setting.top_p, setting.max_tokens) == (0.0, 0.5, 20)
    wish = ordered(Sampling(model="gpt-4", temperature=1.5, max_tokens=7), model="m", temperature=0.0)
    assert (wish.model, wish.temperature, wish.top_p, wish.max_tokens) == ("gpt-4", 1.5, 0.9, 7)


def test_without_a_name_the_servers_first_model_is_asked() -> None:
    assert ordered().model == "first"
    assert Echo().name == "http://127.0.0.1:9"
