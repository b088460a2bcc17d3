"""The commands demo and serve."""

import json
import re
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pincite.api.workers import Further
from pincite.engine.app import AsyncPincite
from pincite.engine.connectors.samples import Samples

from .terminal import Call, start

QUESTION = "Who feeds the cat's kittens?"


@pytest.fixture
def samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Small samples instead of the real ones."""
    path = tmp_path / "sample.md"
    path.write_text("# Cat\n\nThe cook feeds the cat's kittens.\n")
    monkeypatch.setattr("pincite.engine.connectors.samples.find_samples", lambda: Samples((path,), QUESTION))
    return path


@pytest.fixture
def listening(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Where the service was told to listen; it does not."""
    told: list[tuple[str, int]] = []

    async def serve(
        pincite: AsyncPincite, *, host: str, port: int, ready: Callable[[str], None], further: Further
    ) -> None:
        assert further.count == 0
        told.append((host, port))
        assert (pincite.settings.server.host, pincite.settings.server.port) == (host, port)  # as it was passed
        ready("http://here")

    monkeypatch.setattr("pincite.api.server.serve", serve)
    return told


def test_the_demo_answers_with_a_citation_and_adds_nothing_twice(pincite: Call, samples: Path) -> None:
    first = pincite("demo", "--once")
    assert first.code == 0
    assert first.out.startswith("1 sample document in /")
    assert f"{QUESTION} The cook feeds the cat's kittens. [1] Source [1] Cat demo/sample.md, line 3 │" in first.words
    again = pincite("demo", "--once", "--json").json
    assert again["question"] == QUESTION
    assert again["answer"]["citations"][0]["quote"] == "The cook feeds the cat's kittens."
    [document] = pincite("list", "--json", "--folder", "demo").json["items"]
    assert document["versions"] == 1


def test_the_demo_serves_with_a_key_that_replaces_the_last(
    pincite: Call, samples: Path, listening: list[tuple[str, int]]
) -> None:
    said = pincite("demo", "--port", "0")
    assert said.code == 0
    assert listening == [("127.0.0.1", 0)]
    key = re.search(r"Authorization: Bearer (pc_\S+)'", said.out)
    assert key is not None
    assert "curl -s http://here/api/v1/query" in said.out
    body = re.search(r"-d '(.*)'$", said.out, re.MULTILINE)
    assert body is not None
    assert json.loads(body[1].replace("'\\''", "'")) == {"query": QUESTION}
    pincite("demo", "--json")
    states = [key["revoked_at"] for key in pincite("key", "list", "--json").json["items"] if key["name"] == "demo"]
    assert [state is None for state in states] == [True, False]


def test_a_broken_sample_ends_the_demo_with_one_line(pincite: Call, samples: Path) -> None:
    samples.write_bytes(b"\0\0\0")
    assert "a sample document could not be added: " in pincite("demo", "--once").failed_with(1)


def test_serving_says_where_it_is_where_text_goes_and_how_to_make_a_key(
    pincite: Call, listening: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_keys(_keys: object, _person: str) -> list[object]:
        return []

    monkeypatch.setattr("pincite.store.access.api_keys.ApiKeys.all", no_keys)
    said = pincite("serve", "--host", "0.0.0.0", "--port", "1234")
    assert listening == [("0.0.0.0", 1234)]
    first, data, text, key, setup = said.out.splitlines()
    assert first == "pincite listens on http://here; Ctrl-C stops it"
    assert data.startswith("  data  /")
    assert text == "  text  answers: extractive, on this machine; embeddings: scripted"
    assert "pincite key create --name NAME --data /" in key
    assert re.fullmatch(r"  setup first administrator, once: http://here/setup#[\w-]{43}", setup)
    told = pincite("serve", "--json").json
    assert told["address"] == "http://here"
    assert told["setup"].startswith("http://here/setup#")
    assert told["setup"] not in setup  # one of its own each time, and any one of them counts, once


def test_the_settings_say_where_to_listen(pincite: Call, listening: list[tuple[str, int]]) -> None:
    pincite("serve", "--set", "server.host=::1", "--set", "server.port=0")
    assert listening == [("::1", 0)]


@contextmanager
def served(*arguments: str) -> "Iterator[tuple[subprocess.Popen[str], str]]":
    """A process that serves, and its address."""
    process = start("serve", *arguments)
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        found = re.search(r"http://[\d.:]+", first)
        assert found, (first, process.stderr)
        yield process, found[0]
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_a_served_library_answers_and_stops_on_ctrl_c(library: Call) -> None:
    key = library("key", "create", "--name", "t", "--json").json["key"]
    with served("--port", "0") as (process, address):
        request = urllib.request.Request(
            f"{address}/api/v1/query",
            json.dumps({"query": "What is the cat called?"}).encode(),
            {"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as response:
            assert "Parallax" in json.load(response)["answer"]
        assert "is already being served by process" in library("serve", "--port", "0").failed_with(1)
        assert library("list").code == 0
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        assert process.returncode == 0
        [line] = err.splitlines()
        assert re.fullmatch(
            r"\S+Z INFO    pincite\.api\.access \[\w+\] method=POST path=/api/v1/query status=200 .*", line
        )


def test_a_port_in_use_is_one_line(library: Call) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = library("serve", "--port", str(port)).failed_with(1)
    assert told == f"port {port} is in use; choose another with --port"
