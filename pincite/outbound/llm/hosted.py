"""A model behind a server: what is the same whichever language the server speaks."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import SecretStr

from pincite.core.protocols import ServerModel
from pincite.core.query.prompt import Prompt, StreamPart
from pincite.core.query.tools import Abilities
from pincite.errors import ProviderRefused
from pincite.models.facts import ServerModelInfo, facts_of
from pincite.outbound.client import Server
from pincite.outbound.llm.stream import spoken


@dataclass(frozen=True, slots=True)
class Options:
    """Taken from the settings `llm.*` or `embedding.*`; `section` is the one that errors name."""

    base_url: str = ""
    api_key: SecretStr | None = field(default=None, repr=False)
    model: str = ""
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int = 1000
    window: int = 0
    timeout_s: float = 120.0
    dimensions: int = 0
    batch: int = 10
    section: str = "llm"


@dataclass(frozen=True, slots=True)
class Order:
    """One completion to ask for: the request's wishes, then the settings, then the model table."""

    prompt: Prompt
    model: str
    max_tokens: int
    temperature: float
    top_p: float | None


class ServedLLM:
    """Writes with the model that the settings name, or the first that the server offers.

    A provider says what the server has (`list_models`), how an order is put (`_body`) and how the stream that
    comes back is read (`_pieces`).
    """

    def __init__(self, options: Options, server: Server, most_window: int | None = None) -> None:
        self._options = options
        self._server = server
        self._known = ServerModelInfo(options.model, options.window, self._offers, most_window)
        self._abilities = Abilities()

    @property
    def name(self) -> str:
        """The model's name, or its server's as long as nobody named a model."""
        return self._known.model or self._server.shown

    @property
    def window(self) -> int:
        """Tokens it sees, as far as is known."""
        return self._known.window

    @property
    def abilities(self) -> Abilities:
        """What the server said of its model, or showed when it was asked."""
        return self._abilities

    async def discover(self) -> None:
        """Learn what the settings and the table leave open."""
        await self._known.discover()

    async def list_models(self) -> list[ServerModel]:
        """What the server has."""
        raise NotImplementedError

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        """Stream a completion; the last piece says why it ended."""
        order = await self._order(prompt)
        pieces = self._pieces(self._body(order))
        try:
            async with aclosing(spoken(pieces, self._server.shown, order.max_tokens, tools=bool(prompt.tools))) as said:
                async for piece in said:
                    yield piece
        except ProviderRefused as error:
            if prompt.tools and "tool" in str(error).lower():  # the next question does without from the start
                self._abilities = replace(self._abilities, tools=False)
            raise

    async def close(self) -> None:
        """Let the connections go."""
        await self._server.close()

    async def _offers(self) -> list[ServerModel]:
        return await self.list_models()

    def _body(self, order: Order) -> dict[str, Any]:
        raise NotImplementedError

    def _pieces(self, body: dict[str, Any]) -> AsyncGenerator[StreamPart, None]:
        raise NotImplementedError

    async def _order(self, prompt: Prompt) -> Order:
        wish, options = prompt.sampling, self._options
        model = wish.model or await self._known.name(self._server.shown, options.section)
        facts = facts_of(model)
        warmths = (wish.temperature, options.temperature, facts.temperature)
        temperature = next(value for value in warmths if value is not None)
        top_p = next((value for value in (wish.top_p, options.top_p, facts.top_p) if value is not None), None)
        return Order(prompt, model, wish.max_tokens or options.max_tokens, temperature, top_p)
