"""Every interface with a model server, as processes: the server answers, is down, or the client disconnects."""

import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.sync.client import connect

from pincite.stub import Call, StubLLM
from tests.cli.terminal import COMMAND
from tests.steady_clock import now

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
TEXT = "# Leave\n\nUp to five vacation days carry over into the next year.\n"
QUESTION = "How many vacation days carry over?"
QUOTED = "Up to five vacation days carry over into the next year."
IN_TIME_S = 3.0
"""Timeout for noticing a disconnected client; usually far shorter, except on a busy machine."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """A library with one document, the environment to use it, and a stub model server."""

    env: dict[str, str]
    stub: StubLLM

    def call(self, *arguments: str, llm: str, said: str | None = None) -> str:
        """Run a command with the model server at `llm` and return its output."""
        done = subprocess.run(
            [*COMMAND, *arguments],
            env=self.env | {"LLM_BASE_URL": llm},
            input=said,
            capture_output=True,
            text=True,
            timeout=100,
            cwd=ROOT,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def shelf(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    folder = tmp_path_factory.mktemp("doors")
    (folder / "leave.md").write_text(TEXT, encoding="utf-8")
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    env = kept | {"PINCITE_DATABASE_URL": module_database_url, "PINCITE_DATA": str(folder / "data")}
    env |= {"PINCITE_EMBEDDING__PROVIDER": "scripted", "PINCITE_INGEST__WORKERS": "1"}  # quick to open
    env |= {"PINCITE_RESILIENCE__BACKOFF_S": "0", "PINCITE_RESILIENCE__BREAKER_FAILURES": "1000"}  # one test at a time
    env |= {
        "PINCITE_ANSWERS__READER": "none",
        "PINCITE_CACHE__ENABLED": "false",
    }  # the same question is asked of servers that answer or do not
    with StubLLM() as stub:
        shelf = Shelf(env, stub)
        shelf.call("add", str(folder / "leave.md"), llm="")
        yield shelf


@dataclass(frozen=True, slots=True)
class Service:
    """`pincite serve` with the stub as its model, and a client with a key."""

    client: httpx2.Client
    stub: StubLLM


@pytest.fixture(scope="module")
def service(shelf: Shelf) -> Iterator[Service]:
    key = json.loads(shelf.call("key", "create", "--name", "test", "--json", llm=""))["key"]
    process = subprocess.Popen(
        [*COMMAND, "serve", "--port", "0", "--json"],
        env=shelf.env | {"LLM_BASE_URL": shelf.stub.url},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")["address"]
        with httpx2.Client(
            base_url=f"{address}/api/v1/", headers={"authorization": f"Bearer {key}"}, timeout=60
        ) as client:
            yield Service(client, shelf.stub)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


def ask(shelf: Shelf, llm: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(shelf.call("ask", QUESTION, "--json", llm=llm))
    return found


def chat(shelf: Shelf, llm: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(shelf.call("chat", "--json", llm=llm, said=f"{QUESTION}\n"))
    return found


def query(service: Service) -> dict[str, Any]:
    found: dict[str, Any] = service.client.post("query", json={"query": QUESTION}).raise_for_status().json()
    return found


def post_chat(service: Service) -> dict[str, Any]:
    found: dict[str, Any] = service.client.post("chat", json={"message": QUESTION}).raise_for_status().json()
    return found


def assert_by_the_model(answer: dict[str, Any]) -> None:
    assert (answer["answer"], answer["metadata"]["model"]) == (f"{QUOTED} [Source 1]", "stub-1")
    assert answer["degraded"] == []
    assert answer["citations"][0]["quote"] == QUOTED


def assert_by_code(answer: dict[str, Any]) -> None:
    assert (answer["answer"], answer["metadata"]["model"]) == (f"five vacation days. {QUOTED} [Source 1]", "extractive")
    assert [note["stage"] for note in answer["degraded"]] == ["llm_generation"]
    assert "cannot be reached" in answer["degraded"][0]["reason"]
    assert answer["sources"][0]["document_name"] == "leave.md"


@pytest.mark.parametrize("door", [ask, chat])
def test_the_command_line_answers_with_only_a_base_url_configured(
    shelf: Shelf, door: Callable[[Shelf, str], dict[str, Any]]
) -> None:
    shelf.stub.play()
    assert_by_the_model(door(shelf, shelf.stub.url))
    assert shelf.stub.calls[-1].path == "/v1/chat/completions"


@pytest.mark.parametrize("door", [ask, chat])
def test_the_command_line_answers_with_a_warning_if_the_server_is_down(
    shelf: Shelf, door: Callable[[Shelf, str], dict[str, Any]]
) -> None:
    assert_by_code(door(shelf, "http://127.0.0.1:9/v1"))


@pytest.mark.parametrize("door", [query, post_chat])
def test_the_service_answers_with_only_a_base_url_configured(
    service: Service, door: Callable[[Service], dict[str, Any]]
) -> None:
    service.stub.play()
    assert_by_the_model(door(service))
    assert service.stub.calls[-1].path == "/v1/chat/completions"


@pytest.mark.parametrize("door", [query, post_chat])
def test_the_service_answers_with_a_warning_if_the_server_is_down(
    service: Service, door: Callable[[Service], dict[str, Any]]
) -> None:
    service.stub.play(faults=["reset"])
    assert_by_code(door(service))
    assert len(service.stub.calls) >= 4


def left_after(stub: StubLLM, since: float) -> float:
    """Seconds from `since` to the end of the upstream call, which the disconnected client must have caused."""
    assert stub.wait_for(lambda calls: any(call.left for call in calls), 30), "the call upstream went on"
    [call] = [call for call in stub.calls if call.path.endswith("/completions")]
    assert call.left
    assert call.ended is not None
    return now() - since


@pytest.mark.parametrize(("fault", "tokens"), [("silent", 0), ("hang", 0), ("hang:2", 2)])
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(("path", "body"), [("query", {"query": QUESTION}), ("chat", {"message": QUESTION})])
def test_a_client_that_leaves_ends_the_call_upstream(
    service: Service, path: str, body: dict[str, Any], stream: bool, fault: str, tokens: int
) -> None:
    stub = service.stub
    stub.play(answers=[{"match": "", "say": QUOTED, "fault": fault}])

    def under_way(calls: list[Call]) -> bool:
        return any(call.path.endswith("/completions") and call.tokens == tokens for call in calls)

    plug = socket.create_connection((service.client.base_url.host, service.client.base_url.port))
    request = service.client.build_request("POST", path, json={**body, "stream": stream})
    head = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
    plug.sendall(f"POST {request.url.path} HTTP/1.1\r\n{head}\r\n".encode() + request.content)
    assert stub.wait_for(under_way, 30)
    plug.close()
    assert left_after(stub, now()) < IN_TIME_S


def test_a_client_that_leaves_while_tokens_come_ends_the_call_upstream(service: Service) -> None:
    service.stub.play(behaviour="echo", tokens=2000, token_ms=10)
    body = {"query": QUESTION, "stream": True, "max_tokens": 2000}
    with service.client.stream("POST", "query", json=body) as response:
        for line in response.iter_lines():
            if line == "event: token":
                break
    assert left_after(service.stub, now()) < IN_TIME_S


def test_a_disconnected_client_frees_its_slot(service: Service) -> None:
    service.stub.play(answers=[{"match": "", "fault": "hang"}])
    for _ in range(20):
        with service.client.stream("POST", "query", json={"query": QUESTION, "stream": True}):
            pass
    service.stub.play()
    assert_by_the_model(query(service))


def test_nothing_is_retried_for_a_disconnected_client(service: Service) -> None:
    service.stub.play(faults=["503:1"])  # with Retry-After: 1
    with pytest.raises(httpx2.ReadTimeout):
        service.client.post("query", json={"query": QUESTION}, timeout=0.5)
    [before] = [call for call in service.stub.calls if call.path.endswith("/completions")]
    assert not service.stub.wait_for(lambda calls: calls[-1] != before, 2)


def test_a_stream_that_is_cancelled_ends_the_call_upstream(service: Service) -> None:
    service.stub.play(behaviour="echo", tokens=2000, token_ms=10)
    body = {"message": QUESTION, "stream": True, "resumable": True, "max_tokens": 2000}
    with service.client.stream("POST", "chat", json=body) as response:
        lines = response.iter_lines()
        assert next(line for line in lines if line.startswith("event: ")) == "event: start"
        stream_id = json.loads(next(line for line in lines if line.startswith("data: "))[6:])["stream_id"]
        assert next(line for line in lines if line == "event: token")
        since = now()
        service.client.delete(f"chat/streams/{stream_id}").raise_for_status()
    assert left_after(service.stub, since) < IN_TIME_S


def test_a_socket_that_is_closed_ends_the_call_upstream(service: Service) -> None:
    service.stub.play(behaviour="echo", tokens=2000, token_ms=10)
    address = str(service.client.base_url).replace("http://", "ws://")
    key = {"Authorization": service.client.headers["authorization"]}
    with connect(f"{address.rstrip('/')}/chat/ws", additional_headers=key) as plug:
        plug.send(json.dumps({"message": QUESTION, "max_tokens": 2000}))
        while json.loads(plug.recv(timeout=30))["event"] != "token":
            pass
        since = now()
    assert left_after(service.stub, since) < IN_TIME_S
