"""The Model Context Protocol over stdin and stdout."""

import asyncio
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pincite.cli.mcp import MAX_LINE_BYTES, serve
from pincite.mcp.tools import ToolBackend
from tests.cli.terminal import Call


def nobody(*_: Any) -> Any:
    raise AssertionError("no tool is used here")


def spoken(*messages: Any) -> list[dict[str, Any]]:
    """What is said to messages that are heard, a line each."""
    heard = b"".join(one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in messages)
    said = io.BytesIO()
    asyncio.run(serve(ToolBackend(nobody, nobody, nobody, nobody, nobody), io.BytesIO(heard), said))
    return [json.loads(line) for line in said.getvalue().splitlines()]


def message(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def test_each_line_is_a_message_and_each_answer_a_line() -> None:
    told = spoken(
        message(1, "initialize", protocolVersion="2025-06-18"),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        b"\n",
        message(2, "ping"),
    )
    assert sorted(one["id"] for one in told) == [1, 2]


def test_an_invalid_message_is_refused_and_the_next_one_handled() -> None:
    told = spoken(b"not json\n", b"x" * (MAX_LINE_BYTES + 10) + b"\n", message(3, "ping"))
    assert [one["error"]["code"] for one in told if one["id"] is None] == [-32700] * 3
    assert {"jsonrpc": "2.0", "id": 3, "result": {}} in told


@pytest.mark.slow
def test_a_program_that_starts_it_gets_answers_until_it_closes_the_pipe(
    pincite: Call, papers: Path, library_settings: dict[str, str]
) -> None:
    pincite("add", papers)
    command = [sys.executable, "-c", "import sys; from pincite.cli import main; sys.exit(main())", "mcp"]
    asked = message(1, "tools/call", name="ask", arguments={"question": "What is the cat called?"})
    done = subprocess.run(
        command,
        input=json.dumps(asked).encode() + b"\n",
        capture_output=True,
        check=False,
        timeout=100,
        env={**os.environ, **library_settings},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    [line] = done.stdout.splitlines()
    assert "Parallax" in json.loads(line)["result"]["content"][0]["text"]
