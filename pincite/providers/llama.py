"""A language model in this process: a GGUF file, run by llama.cpp (the extra `llama`).

The model runs in its own threads, one answer at a time. A cancelled request returns at once, and the model stops at the
next token or prompt batch. No other process on the machine can reach the model: it listens on a socket in a private
folder.
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
from pincite.models.facts import DEFAULT_WINDOW, facts_of
from pincite.outbound.llm.openai_messages import messages_of, piece_of_event, response_format, tools_of
from pincite.outbound.llm.stream import clean_stream
from pincite.outbound.llm.tool_calls import Calls

MISSING_EXTRA = "llm.provider=llama needs the extra 'llama': in the checkout, pip install '.[llama]'"
PROMPT_BATCH_TOKENS = 128
"""Tokens of a prompt that are processed at once; a request can be cancelled in between."""

Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Options:
    """Options from the settings `llm.*`."""

    path: str = ""
    model: str = ""
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int = 1000
    window: int = 0


class LlamaLLM:
    """Streamed completions; the model is loaded at the first request."""

    def __init__(self, options: Options) -> None:
        path = Path(options.path).expanduser()
        if not options.path:
            raise SettingsError("llm.provider=llama needs a GGUF file; set llm.path")
        if not path.is_file():
            raise SettingsError(f"llm.path: there is no file {path}")
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise SettingsError(f"llm.path: {path.name} is not a GGUF file")
        try:
            import xllamacpp  # noqa: F401
        except ImportError as error:
            raise SettingsError(MISSING_EXTRA) from error
        self._path, self._options = path, options
        self._name = options.model or path.stem
        self._server: Any = None
        self._folder = ""
        self._opening = asyncio.Lock()
        self._working: set[asyncio.Future[None]] = set()

    @property
    def name(self) -> str:
        """The name from the settings, or the file name."""
        return self._name

    @property
    def window(self) -> int:
        """Context window: the setting, or the model table up to 8,192 tokens, since memory is allocated for all."""
        return self._options.window or min(facts_of(self._name).window or DEFAULT_WINDOW, DEFAULT_WINDOW)

    @property
    def abilities(self) -> Abilities:
        """No images; tool support depends on the chat template of the model."""
        return Abilities(vision=False)

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        """Stream a completion; the last part has the finish reason."""
        max_tokens = prompt.sampling.max_tokens or self._options.max_tokens
        pieces = self._pieces(self._body(prompt, max_tokens))
        async with aclosing(clean_stream(pieces, self._name, max_tokens, tools=bool(prompt.tools))) as said:
            async for piece in said:
                yield piece

    async def close(self) -> None:
        """Unload the model."""
        async with self._opening:
            await asyncio.gather(*self._working, return_exceptions=True)
            server, self._server = self._server, None
            if server is not None:
                held = [server]
                del server
                await asyncio.to_thread(held.clear)  # its threads end with the last reference
                shutil.rmtree(self._folder, ignore_errors=True)

    def _body(self, prompt: Prompt, max_tokens: int) -> Event:
        wish, facts = prompt.sampling, facts_of(self._name)
        temperatures = (wish.temperature, self._options.temperature, facts.temperature)
        chosen = {
            "temperature": next(value for value in temperatures if value is not None),
            "top_p": next((v for v in (wish.top_p, self._options.top_p, facts.top_p) if v is not None), None),
            "top_k": wish.top_k or facts.top_k,
            "stop": list(wish.stop) or None,
            "tools": tools_of(prompt.tools) or None,
            "response_format": response_format(prompt.schema),
        }
        body: Event = {
            "messages": messages_of(prompt),
            "max_tokens": max_tokens,
            "stream": True,
            "return_progress": True,
            "stream_options": {"include_usage": True},
        }
        return body | {name: value for name, value in chosen.items() if value is not None}

    async def _pieces(self, body: Event) -> AsyncGenerator[StreamPart, None]:
        calls = Calls()
        async with self._opening:
            if self._server is None:
                self._server = await asyncio.to_thread(self._open)
        async with aclosing(self._events(body)) as events:
            async for event in events:
                if error := event.get("error"):
                    raise self._refused(error)
                try:
                    piece = piece_of_event(event, calls)
                except (TypeError, AttributeError, KeyError, IndexError) as error:
                    raise ProviderError(f"{self._name} sent an event of unknown form") from error
                yield replace(piece, model=self._name)

    async def _events(self, body: Event) -> AsyncGenerator[Event, None]:
        """Stream the events of the model from a thread that stops when the consumer stops."""
        loop, events, left = asyncio.get_running_loop(), asyncio.Queue[Event | None](), threading.Event()

        def put(event: Event | None) -> None:
            with suppress(RuntimeError):  # the event loop was closed meanwhile
                loop.call_soon_threadsafe(events.put_nowait, event)

        def receive(event: Any) -> bool:
            for one in event if isinstance(event, list) else [event]:
                put(one if isinstance(one, dict) else {"error": {"message": "no object"}})
            return left.is_set()

        working = asyncio.ensure_future(asyncio.to_thread(_complete, self._server, body, receive, put))
        self._working.add(working)
        working.add_done_callback(self._working.discard)
        try:
            while (event := await events.get()) is not None:
                yield event
        finally:
            left.set()

    def _refused(self, error: Any) -> ProviderError:
        said = error.get("message") if isinstance(error, dict) else None
        return ProviderRefused(f"{self._name} rejected the request: {str(said or 'no reason given')[:300]}")

    def _open(self) -> Any:
        """Load the model."""
        import xllamacpp

        self._folder = tempfile.mkdtemp(prefix="pincite-llama-")
        chosen = xllamacpp.CommonParams()
        chosen.model.path = str(self._path)
        chosen.n_ctx, chosen.n_batch, chosen.n_ubatch, chosen.n_parallel = (
            self.window,
            PROMPT_BATCH_TOKENS,
            PROMPT_BATCH_TOKENS,
            1,
        )
        chosen.hostnames, chosen.api_keys = [str(Path(self._folder) / "llama.sock")], [secrets.token_urlsafe(32)]
        chosen.ui, chosen.warmup, chosen.use_jinja, chosen.verbosity, chosen.offline = False, False, True, -1, True
        chosen.cpuparams.n_threads = max(1, (os.cpu_count() or 2) // 2)
        try:
            return xllamacpp.Server(chosen)
        except (RuntimeError, ValueError) as error:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise ProviderRefused(
                f"{self._path.name} cannot be loaded as a model ({error}); choose another llm.path"
            ) from error


def _complete(server: Any, body: Event, receive: Callable[[Any], bool], put: Callable[[Event | None], None]) -> None:
    try:
        server.handle_chat_completions(body, receive)
    except (RuntimeError, ValueError) as error:
        put({"error": {"message": str(error)}})
    finally:
        put(None)


def make_llm(options: Options) -> LLM:
    """Create the language model; called by `plugins.load`."""
    return LlamaLLM(options)
