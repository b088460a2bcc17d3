"""Run the stub in a thread, for tests: `with StubLLM(answers=["Yes. [Source 1]"]) as stub: …`."""

import asyncio
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, Self

from pincite.stub.call_log import Call
from pincite.stub.script import Script, read_script
from pincite.stub.server import StubServer


class StubLLM:
    """A model server within a `with` block; its behaviour is a script, fields of a script, or both."""

    def __init__(self, script: Script | None = None, **fields: Any) -> None:
        self._server = StubServer(_script(script, fields))
        self._ready: Future[asyncio.AbstractEventLoop] = Future()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="stub-llm", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._loop = self._ready.result(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    async def _run(self) -> None:
        try:
            await self._server.start()
        except BaseException as error:
            self._ready.set_exception(error)
            return
        self._ready.set_result(asyncio.get_running_loop())
        try:
            await self._stop.wait()
        finally:
            await self._server.stop()

    @property
    def url(self) -> str:
        """The value for `llm.base_url`."""
        return self._server.url

    @property
    def calls(self) -> list[Call]:
        """All calls, in order of arrival."""
        return self._server.calls.all()

    def play(self, script: Script | None = None, **fields: Any) -> None:
        """Start another script; the next call has number 1."""
        self._server.play(_script(script, fields))

    def wait_for(self, condition: Callable[[list[Call]], bool], timeout_s: float = 10) -> bool:
        """Wait until the calls satisfy a condition; False on timeout."""
        return self._server.calls.wait_for(condition, timeout_s)


def _script(script: Script | None, fields: Mapping[str, Any]) -> Script:
    return read_script({**dict(script or Script()), **fields})
