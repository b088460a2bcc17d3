"""A model in this process: a GGUF file, read by llama.cpp (the extra `llama`).

It works in threads of its own, one answer at a time. Whoever leaves is let go at once, and the model stops at its next
token or at the next part of the prompt that it is reading. Nobody else on the machine can reach it: what it listens on is a socket in a private folder.
"""

import asyncio
import os
import secrets
import shutil
import tempfile
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pincite.core.protocols import LLM
from pincite.core.query.prompt import Prompt, StreamPart
from pincite.core.query.tools import Abilities
from pincite.errors import ProviderError, ProviderRefused, SettingsError
from pincite.models.facts import WINDOW, facts_of
from pincite.outbound.llm.openai_messages import messages_of, piece_of_event, tools_of
from pincite.outbound.llm.stream import spoken
from pincite.outbound.llm.tool_calls import Calls

MISSING = "llm.provider=llama needs the extra 'llama': pip install 'pincite[llama]'"
BATCH = 128
"""Tokens of a prompt that are read before anybody can stop it again."""

Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Options:
    """Taken from the settings `llm.*`."""

    path: str = ""
    model: str = ""
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int = 1000
    window: int = 0


class LlamaLLM:
    """Completions, streamed; the file is read when something is first asked."""

    def __init__(self, options: Options) -> None:
        path = Path(options.path).expanduser()
        if not options.path:
            raise SettingsError("llm.provider=llama needs llm.path: the GGUF file to read")
        if not path.is_file():
            raise SettingsError(f"llm.path: there is no file {path}")
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise SettingsError(f"llm.path: {path.name} is no GGUF file")
        try:
            import xllamacpp  # noqa: F401
        except ImportError as error:
            raise SettingsError(MISSING) from error
        self._path, self._options = path, options
        self._name = options.model or path.stem
        self._server: Any = None
        self._folder = ""
        self._opening = asyncio.Lock()
        self._working: set[asyncio.Future[None]] = set()

    @property
    def name(self) -> str:
        """As the settings call it, else as the file is called."""
        return self._name

    @property
    def window(self) -> int:
        """Tokens it sees: the setting, else the table, at most 8,192, for memory is set aside for all of them."""
        return self._options.window or min(facts_of(self._name).window or WINDOW, WINDOW)

    @property
    def abilities(self) -> Abilities:
        """It sees no pictures; whether it calls tools, its own template decides."""
        return Abilities(vision=False)

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        """Stream a completion; the last piece says why it ended."""
        longest = prompt.sampling.max_tokens or self._options.max_tokens
        pieces = self._pieces(self._body(prompt, longest))
        async with aclosing(spoken(pieces, self._name, longest, tools=bool(prompt.tools))) as said:
            async for piece in said:
                yield piece

    async def close(self) -> None:
        """Let the weights go."""
        async with self._opening:
            await asyncio.gather(*self._working, return_exceptions=True)
            server, self._server = self._server, None
            if server is not None:
                held = [server]
                del server
                await asyncio.to_thread(held.clear)  # its threads end with the last reference
                shutil.rmtree(self._folder, ignore_errors=True)

    def _body(self, prompt: Prompt, longest: int) -> Event:
        wish, facts = prompt.sampling, facts_of(self._name)
        warmths = (wish.temperature, self._options.temperature, facts.temperature)
        chosen = {
            "temperature": next(value for value in warmths if value is not None),
            "top_p": next((v for v in (wish.top_p, self._options.top_p, facts.top_p) if v is not None), None),
            "top_k": wish.top_k,
            "stop": list(wish.stop) or None,
            "tools": tools_of(prompt.tools) or None,
        }
        body: Event = {
            "messages": messages_of(prompt), "max_tokens": longest, "stream": True, "return_progress": True,
            "stream_options": {"include_usage": True},
        }  # fmt: skip
        return body | {name: value for name, value in chosen.items() if value is not None}

    async def _pieces(self, body: Event) -> AsyncGenerator[StreamPart, None]:
        calls = Calls()
        async with self._opening:
            if self._server is None:
                self._server = await asyncio.to_thread(self._open)
        async with aclosing(self._told(body)) as events:
            async for event in events:
                if error := event.get("error"):
                    raise self._refused(error)
                try:
                    piece = piece_of_event(event, calls)
                except (TypeError, AttributeError, KeyError, IndexError) as error:
                    raise ProviderError(f"{self._name} said something that cannot be understood") from error
                yield replace(piece, model=self._name)

    async def _told(self, body: Event) -> AsyncGenerator[Event, None]:
        """What the model tells, event by event, from a thread that ends when nobody listens any more."""
        loop, events, left = asyncio.get_running_loop(), asyncio.Queue[Event | None](), threading.Event()

        def put(event: Event | None) -> None:
            with suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(events.put_nowait, event)

        def hear(event: Any) -> bool:
            for one in event if isinstance(event, list) else [event]:
                put(one if isinstance(one, dict) else {"error": {"message": "no object"}})
            return left.is_set()

        working = asyncio.ensure_future(asyncio.to_thread(_complete, self._server, body, hear, put))
        self._working.add(working)
        working.add_done_callback(self._working.discard)
        try:
            while (event := await events.get()) is not None:
                yield event
        finally:
            left.set()

    def _refused(self, error: Any) -> ProviderError:
        said = error.get("message") if isinstance(error, dict) else None
        return ProviderRefused(f"{self._name} did not take the request: {str(said or 'no reason')[:300]}")

    def _open(self) -> Any:
        """Read the weights."""
        import xllamacpp

        self._folder = tempfile.mkdtemp(prefix="pincite-llama-")
        chosen = xllamacpp.CommonParams()
        chosen.model.path = str(self._path)
        chosen.n_ctx, chosen.n_batch, chosen.n_ubatch, chosen.n_parallel = self.window, BATCH, BATCH, 1
        chosen.hostnames, chosen.api_keys = [str(Path(self._folder) / "llama.sock")], [secrets.token_urlsafe(32)]
        chosen.ui, chosen.warmup, chosen.use_jinja, chosen.verbosity, chosen.offline = False, False, True, -1, True
        chosen.cpuparams.n_threads = max(1, (os.cpu_count() or 2) // 2)
        try:
            return xllamacpp.Server(chosen)
        except (RuntimeError, ValueError) as error:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise ProviderRefused(
                f"{self._path.name} cannot be read as a model ({error}); choose another llm.path"
            ) from error


def _complete(server: Any, body: Event, hear: Callable[[Any], bool], put: Callable[[Event | None], None]) -> None:
    try:
        server.handle_chat_completions(body, hear)
    except (RuntimeError, ValueError) as error:
        put({"error": {"message": str(error)}})
    finally:
        put(None)


def make_llm(options: Options) -> LLM:
    """Called by `plugins.load`."""
    return LlamaLLM(options)
