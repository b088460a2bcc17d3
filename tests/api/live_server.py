"""A real server in its own thread, and helpers to send requests to it."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx2
import psycopg

from pincite.core.accounts.access import Role
from pincite.engine.app import AsyncPincite

T = TypeVar("T")
ROLES: tuple[Role, ...] = ("administrator", "editor", "reader")


class LiveServer:
    """Serves an engine over HTTP until left."""

    host_listened_on = "127.0.0.1"
    port_listened_on = 0

    def __init__(self, data: Path, **settings: Any) -> None:
        self._settings = {"data": data, "embedding.provider": "scripted", "ingest.workers": 1, **settings}
        self._loop = asyncio.new_event_loop()
        self._ready: Future[str] = Future()
        self._stopped = False
        self.keys: dict[str, str] = {}

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=asyncio.run, args=(self._run(),), daemon=True)
        self._thread.start()
        self.url = self._ready.result(300)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._thread.join(30)

    def stop(self) -> None:
        """Tell the server to stop, once; it does so in its own time."""
        if not self._stopped and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._serving.cancel)
        self._stopped = True

    @staticmethod
    def later(work: Callable[[], object]) -> threading.Thread:
        """Do something meanwhile."""
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        return thread

    async def _run(self) -> None:
        from pincite.api.server import serve  # here and below: unit tests are collected without a web framework

        self._loop = asyncio.get_running_loop()
        try:
            async with AsyncPincite(settings=self._settings) as self.pincite:
                for role in ROLES:
                    self.keys[role], _ = await self.pincite.services.keys.create("local", role, role, None)
                self._serving = asyncio.create_task(
                    serve(
                        self.pincite,
                        host=self.host_listened_on,
                        port=self.port_listened_on,
                        ready=self._ready.set_result,
                    )
                )
                await asyncio.gather(self._serving, return_exceptions=True)
        except BaseException as error:
            if not self._ready.done():
                self._ready.set_exception(error)
            raise

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something in the server's own loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(300)

    def client(self, role: Role | None = "administrator", **more: Any) -> httpx2.Client:
        """A client with a key of this role, or with none; its responses are compared with their schemas."""
        from tests.api.schema_check import check_response

        headers = {"Authorization": f"Bearer {self.keys[role]}"} if role else {}
        hooks = {"response": [check_response]}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=300, **{"event_hooks": hooks, **more})

    def stranger(self) -> httpx2.Client:
        """A client of another person, who may do everything with what is theirs: nothing yet."""
        with psycopg.connect(self._settings["database.url"]) as connection:
            connection.execute(
                "insert into pincite.person (id, name, role) values ('stranger', 'Stranger', 'administrator')"
                " on conflict do nothing"
            )
        key, _ = self.do(self.pincite.services.keys.create("stranger", "key", "administrator", None))
        return httpx2.Client(base_url=self.url, headers={"Authorization": f"Bearer {key}"}, timeout=300)

    def add(self, folder: str, **files: str) -> dict[str, dict[str, Any]]:
        """Upload Markdown files by their stems and wait until they can be asked about."""
        with self.client() as client:
            for stem, text in files.items():
                response = upload(client, f"{stem}.md", text, folder=folder)
                assert response.status_code == 202, response.text
            return {document["name"].removesuffix(".md"): document for document in completed(client, folder)}


def upload(client: httpx2.Client, name: str, text: str | bytes, **fields: Any) -> httpx2.Response:
    """Upload one file."""
    return client.post("/api/v1/documents/upload", files={"file": (name, text)}, data=fields)


def completed(client: httpx2.Client, folder: str, within_s: float = 300) -> list[dict[str, Any]]:
    """The documents of a folder once none is on its way any more."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        found: list[dict[str, Any]] = client.get("/api/v1/documents", params={"folder": folder}).json()["items"]
        if all(document["status"] in ("completed", "error") for document in found):
            return found
        time.sleep(0.05)
    raise AssertionError(f"not processed in time: {found}")


def events(lines: Iterable[str]) -> list[tuple[str, dict[str, Any]]]:
    """Server-sent events by name, with their data; comments are passed over."""
    found: list[tuple[str, dict[str, Any]]] = []
    name = ""
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            found.append((name, json.loads(line.removeprefix("data: "))))
    return found


def assert_problem(response: httpx2.Response, status: int, code: str) -> Mapping[str, Any]:
    """Check the shape every error has; returns it."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem: Mapping[str, Any] = response.json()
    assert set(problem) == {"type", "title", "status", "detail", "code", "request_id"}
    assert problem["status"] == status
    assert problem["code"] == code
    assert problem["type"] == f"urn:pincite:error:{code}"
    assert problem["request_id"] == response.headers["x-request-id"]
    assert problem["detail"]
    assert "\n" not in problem["detail"]
    assert "Traceback" not in response.text
    return problem
