"""The base class of language models behind an HTTP server, whatever its API."""

import re
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
from pincite.outbound.llm.stream import clean_stream

_ABOUT_FORMAT = re.compile(r"format|schema|grammar|guided|json|extra (?:fields|inputs)", re.IGNORECASE)
"""What a server names that rejects constrained output."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options from the settings `llm.*` or `embedding.*`; `section` is the settings branch named in errors."""

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
class CompletionRequest:
    """One completion request; values come from the request, then the settings, then the model table."""

    prompt: Prompt
    model: str
    max_tokens: int
    temperature: float
    top_p: float | None


class ServedLLM:
    """A language model on a server: the one in the settings, or the first that the server offers.

    A provider implements `list_models`, `_body` (the request body) and `_pieces` (the parsed response stream).
    `constrains` is whether its requests carry the JSON schema of a prompt.
    """

    constrains = True

    def __init__(self, options: Options, server: Server, max_window: int | None = None) -> None:
        self._options = options
        self._server = server
        self._known = ServerModelInfo(options.model, options.window, self._offers, max_window)
        self._abilities = Abilities(schemas=None if self.constrains else False)

    @property
    def name(self) -> str:
        """The name of the model, or the address of the server while the model is unknown."""
        return self._known.model or self._server.shown

    @property
    def window(self) -> int:
        """Context window in tokens, as far as known."""
        return self._known.window

    def window_of(self, model: str) -> int:
        """Context window of any model of the server, as far as known."""
        return self._known.window_of(model)

    @property
    def abilities(self) -> Abilities:
        """Capabilities reported by the server, or learned from its errors."""
        return self._abilities

    async def discover(self) -> None:
        """Ask the server for what the settings and the model table do not say."""
        await self._known.discover()

    async def list_models(self) -> list[ServerModel]:
        """List the models of the server."""
        raise NotImplementedError

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        """Stream a completion; the last part has the finish reason.

        A server that rejects the schema of a prompt is asked again without it, and later not with a schema at all.
        """
        if not prompt.schema or self._abilities.schemas is False:
            async with aclosing(self._write(replace(prompt, schema=None))) as pieces:
                async for piece in pieces:
                    yield piece
            return
        begun = False
        try:
            async with aclosing(self._write(prompt)) as pieces:
                async for piece in pieces:
                    begun = True
                    yield piece
        except ProviderRefused as error:
            if begun or not _ABOUT_FORMAT.search(str(error)):
                raise
            async with aclosing(self._write(replace(prompt, schema=None))) as pieces:
                async for piece in pieces:
                    self._abilities = replace(self._abilities, schemas=False)
                    yield piece

    async def _write(self, prompt: Prompt) -> AsyncGenerator[StreamPart, None]:
        order = await self._order(prompt)
        pieces = self._pieces(self._body(order))
        try:
            async with aclosing(
                clean_stream(pieces, self._server.shown, order.max_tokens, tools=bool(prompt.tools))
            ) as said:
                async for piece in said:
                    yield piece
        except ProviderRefused as error:
            if prompt.tools and "tool" in str(error).lower():  # the next question uses no native tool calls
                self._abilities = replace(self._abilities, tools=False)
            raise

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()

    async def _offers(self) -> list[ServerModel]:
        return await self.list_models()

    def _body(self, order: CompletionRequest) -> dict[str, Any]:
        raise NotImplementedError

    def _pieces(self, body: dict[str, Any]) -> AsyncGenerator[StreamPart, None]:
        raise NotImplementedError

    async def _order(self, prompt: Prompt) -> CompletionRequest:
        wish, options = prompt.sampling, self._options
        model = wish.model or await self._known.name(self._server.shown, options.section)
        facts = facts_of(model)
        temperatures = (wish.temperature, options.temperature, facts.temperature)
        temperature = next(value for value in temperatures if value is not None)
        top_p = next((value for value in (wish.top_p, options.top_p, facts.top_p) if value is not None), None)
        return CompletionRequest(prompt, model, wish.max_tokens or options.max_tokens, temperature, top_p)
