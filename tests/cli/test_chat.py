"""The command chat: piped and typed."""

import contextlib
import io
import json
import os
import pty
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pincite.stub.script import Script
from pincite.stub.thread import StubLLM

from .terminal import COMMAND, Call, CommandResult

KEY = "Where does the key to the generator room hang?"
CAT = "What is the cat called?"


@pytest.fixture
def chat(library: Call, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Calls `chat` with lines to read."""

    def call(*arguments: str, lines: str) -> CommandResult:
        monkeypatch.setattr("sys.stdin", io.StringIO(lines))
        return library("chat", *arguments)

    return call


def test_each_line_is_answered_with_its_sources(chat: Call) -> None:
    said = chat(lines=f"{KEY}\n\n{CAT}\n")
    assert (said.code, said.err) == (0, "")
    assert "The key to the generator room hangs behind the blue cup. [1]" in said.words
    assert "The cat is called Parallax. [1]" in said.words
    assert said.words.count("Station Handbook › ") >= 2


def test_json_is_one_answer_a_line_in_one_session(chat: Call) -> None:
    said = chat("--json", lines=f"{KEY}\n{CAT}\n")
    answers = [json.loads(line) for line in said.out.splitlines()]
    assert len(answers) == 2
    assert answers[0]["session_id"] == answers[1]["session_id"]
    assert answers[0]["citations"][0]["quote"].startswith("The key to the generator room")


def test_a_conversation_goes_on_only_when_asked(chat: Call) -> None:
    first = json.loads(chat("--json", lines=KEY).out)["session_id"]
    assert json.loads(chat("--json", "--session", "last", lines=CAT).out)["session_id"] == first
    assert json.loads(chat("--json", "--session", first, lines=CAT).out)["session_id"] == first
    assert json.loads(chat("--json", "--session", first[:9], lines=CAT).out)["session_id"] == first
    assert json.loads(chat("--json", "--new", lines=CAT).out)["session_id"] != first
    assert json.loads(chat("--json", lines=CAT).out)["session_id"] != first
    assert "no session 's_none'" in chat("--session", "s_none", lines=CAT).failed_with(1)
    assert "give only one of them" in chat("--session", first, "--new", lines=CAT).failed_with(2)


def test_a_conversation_can_be_about_documents_as_they_were(chat: Call) -> None:
    assert json.loads(chat("--json", "--as-of", "2001-01-01", lines=CAT).out)["sources"] == []
    assert json.loads(chat("--json", "--as-of", "2101-01-01", lines=CAT).out)["sources"]
    assert "--as-of should be a time" in chat("--as-of", "soon", lines=CAT).failed_with(2)


def test_the_commands_of_a_conversation(chat: Call) -> None:
    said = chat(lines=f"/sources\n/help\n{KEY}\n/sources\n/sessions\n/new\n/nonsense\n/quit\n{CAT}\n")
    assert said.code == 0
    assert "there is no answer yet" in said.out
    assert "list all sources of the last answer" in said.out
    assert "relevance" in said.out
    assert "Where does" in said.out.split("about")[1]
    assert "there is no command /nonsense" in said.err
    assert "Parallax" not in said.out.split("a new conversation")[1]


def test_an_invalid_question_leaves_no_session(chat: Call) -> None:
    said = chat("--json", lines=f"{'x' * 5000}\n{KEY}\n")
    assert said.code == 1
    assert "ask in at most 4000" in said.err
    assert json.loads(said.out)["answer"].startswith("The key")
    alone = chat(lines=f"{'x' * 5000}\n/sessions\n")
    assert "xxxx" not in alone.out


@pytest.mark.parametrize("breaks", ["create", "remove", "everything"])
def test_a_question_that_fails_never_ends_the_conversation(
    chat: Call, monkeypatch: pytest.MonkeyPatch, breaks: str
) -> None:
    """Whatever fails: making the session, the session itself, or everything for a while."""
    from pincite.errors import StoreDown
    from pincite.store.conversations.sessions import Sessions

    calls = 0

    def failing_once(name: str) -> None:
        real = getattr(Sessions, name)

        async def called(self: Sessions, scope: object, *arguments: object, **named: object) -> object:
            nonlocal calls
            calls += 1
            if breaks == "remove" and name == "recent" and calls == 1:
                await self.remove(scope, str(arguments[0]))  # type: ignore[arg-type]
            elif breaks != "remove" and calls <= (2 if breaks == "everything" else 1):
                raise StoreDown("the database is away")
            return await real(self, scope, *arguments, **named)

        monkeypatch.setattr(Sessions, name, called)

    for name in {"create": ["create"], "remove": ["recent"], "everything": ["recent", "remove_if_empty"]}[breaks]:
        failing_once(name)
    said = chat("--json", lines=f"{KEY}\n{KEY}\n")
    assert said.code == 1
    assert len(said.err.splitlines()) == 1
    assert json.loads(said.out)["answer"].startswith("The key")


@pytest.mark.slow
def test_ctrl_c_ends_a_conversation_that_speaks_json(library: Call, library_settings: dict[str, str]) -> None:
    with _typed(library_settings, "--json") as (process, terminal):
        terminal.type(f"{KEY}\n")
        terminal.wait_for('"session_id"')
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        terminal.never_shows("Fatal Python error")


@pytest.mark.slow
def test_ctrl_c_stops_the_answer_and_not_the_conversation(library: Call, library_settings: dict[str, str]) -> None:
    script = Script(answers=["The key hangs here. " * 400, "The cat is called Parallax. [Source 1]"], token_ms=20)
    with StubLLM(script) as stub, _typed({**library_settings, "LLM_BASE_URL": stub.url}) as (process, terminal):
        terminal.wait_for("›")
        terminal.type(f"{KEY}\n")
        terminal.wait_for("The key hangs here. The key")
        process.send_signal(signal.SIGINT)
        terminal.wait_for("(stopped)")
        assert stub.wait_for(lambda calls: any(call.left for call in calls))
        terminal.wait_for("›")
        process.send_signal(signal.SIGINT)
        terminal.wait_for("(Ctrl-D quits)")
        terminal.type(f"{CAT}\n")
        terminal.wait_for("The cat is called Parallax. [1]")
        terminal.wait_for("stub-1; trace")
        terminal.wait_for("›")
        terminal.type("\x04")
        assert process.wait(30) == 0


@contextmanager
def _typed(env: dict[str, str], *arguments: str) -> "Iterator[tuple[subprocess.Popen[bytes], _Terminal]]":
    """A conversation at a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "chat", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=Path(__file__).parents[2],
        env={**os.environ, **env, "TERM": "xterm"},
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield process, _Terminal(ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


class _Terminal:
    """What a terminal shows, colours and cursor movements left out."""

    def __init__(self, file: int) -> None:
        os.set_blocking(file, False)
        self._file = file
        self._shown = ""

    def type(self, text: str) -> None:
        os.write(self._file, text.encode())

    def wait_for(self, text: str) -> None:
        """Wait until this is shown after what was waited for before."""
        deadline = time.monotonic() + 30
        while text not in self._plain():
            assert time.monotonic() < deadline, self._shown
            try:
                self._shown += os.read(self._file, 4096).decode(errors="replace")
            except BlockingIOError:
                time.sleep(0.02)
        self._shown = self._plain().partition(text)[2]

    def never_shows(self, text: str) -> None:
        """Read what is left, after the program has ended."""
        with contextlib.suppress(OSError):
            while more := os.read(self._file, 4096):
                self._shown += more.decode(errors="replace")
        assert text not in self._plain()

    def _plain(self) -> str:
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\r", "", self._shown)


def test_documents_are_searched_or_not_whatever_the_mode_says(chat: Call) -> None:
    assert "[1]" in chat("--documents", lines="Thank you!\nWhat is the cat called?\n").words
    assert "[1]" not in chat("--no-documents", lines=f"{CAT}\n").words


def test_the_help_names_what_chat_takes(library: Call) -> None:
    words = library("chat", "--help").words
    assert "--documents" in words
    assert "--image" not in words
