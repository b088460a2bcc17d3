"""`main`: behaviour of every call, and the output of each kind of failure."""

import errno
import json
import logging
import signal
import subprocess
import sys

import pytest

import pincite.cli
from pincite import __version__
from pincite.engine.app import AsyncPincite

from .terminal import Call, call, start

HEAVY = {"psycopg", "onnxruntime", "numpy", "fastapi", "uvicorn", "pydantic", "rich", "pincite.engine.app"}


@pytest.mark.slow
def test_help_is_instant_and_loads_nothing_heavy() -> None:
    script = (
        "import sys, time; from pincite.cli import main; assert main(['--help']) == 0;"
        f"print(sorted({HEAVY!r} & set(sys.modules)), time.process_time(), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    loaded, seconds = done.stderr.rsplit(" ", 1)
    assert loaded == "[]"
    assert float(seconds) < 0.3
    assert "Commands:" in done.stdout


@pytest.mark.slow
def test_json_needs_no_web_framework() -> None:
    script = "import sys, pincite.serialize.answers; raise SystemExit('fastapi' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False, timeout=60).returncode == 0


@pytest.mark.parametrize("name", "demo serve add list show read remove ask search doctor key trace".split())
def test_every_command_explains_itself(name: str) -> None:
    said = call(name, "--help")
    assert (said.code, said.err) == (0, "")
    assert f"Usage: pincite {name}" in said.out


def test_a_call_without_a_command_shows_the_help() -> None:
    said = call()
    assert said.code == 0
    assert "Usage: pincite" in said.out


def test_the_version_is_printed() -> None:
    assert call("--version").out == f"pincite {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["lst"], "no such command 'lst'. Did you mean 'list'? (see pincite --help)"),
        (["list", "--bogus"], "no such option: --bogus (see pincite list --help)"),
        (["ask", "why?", "--until", "now"], "no such option: --until (see pincite ask --help)"),
        (["ask", "why?", "--topk", "3"], "no such option: --topk; did you mean '--top-k'? (see pincite ask --help)"),
        (["ask"], "missing argument 'QUESTION'. (see pincite ask --help)"),
        (["key"], "missing command. (see pincite key --help)"),
        (["list", "one"], "got unexpected extra argument"),
        (["ask", "why?", "--top-k", "0"], "invalid value for '--top-k'"),
        (["ask", "why?", "--top-k", "many"], "invalid value for '--top-k'"),
        (["serve", "--port", "70000"], "invalid value for '--port'"),
    ],
)
def test_a_usage_error_is_one_line(arguments: list[str], told: str) -> None:
    assert told in call(*arguments).failed_with(2)


@pytest.mark.parametrize(
    ("arguments", "code", "word", "told"),
    [
        (["list", "--bogus", "--json"], 2, "usage", "no such option: --bogus (see pincite list --help)"),
        (["ask", "why?", "--strategy", "x", "--json"], 2, "invalid", "there is no strategy 'x'; there are: "),
        (["--json", "lst"], 2, "usage", "no such option: --json"),
    ],
)
def test_with_json_an_error_is_json_as_well(arguments: list[str], code: int, word: str, told: str) -> None:
    said = call(*arguments)
    assert (said.code, said.out, said.err.count("\n")) == (code, "", 1)
    error = json.loads(said.err)["error"]
    assert error["code"] == word
    assert error["message"].startswith(told)


def test_an_argument_is_no_option() -> None:
    assert call("list", "--", "--json").failed_with(2).startswith("got unexpected extra argument")


def _opening_raises(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    async def fail(_self: AsyncPincite) -> None:
        raise error

    monkeypatch.setattr(AsyncPincite, "open", fail)


def test_an_unexpected_error_is_one_line_with_a_traceback_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    _opening_raises(monkeypatch, ZeroDivisionError("two\nlines \x1b[2J"))
    told = call("list").failed_with(1)
    assert told == ("unexpected error: ZeroDivisionError: two lines \\x1b[2J; run again with --debug for details")
    assert "Traceback" in call("list", "--debug").err
    assert "Traceback" in call("--debug", "list").err


def test_ctrl_c_is_one_line_and_130(monkeypatch: pytest.MonkeyPatch) -> None:
    _opening_raises(monkeypatch, KeyboardInterrupt())
    assert call("list").failed_with(130) == "interrupted"
    assert call("list", "--json").err == '{"error": {"code": "interrupted", "message": "interrupted"}}\n'


def test_a_full_disk_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    _opening_raises(monkeypatch, OSError(errno.ENOSPC, "No space left on device"))
    assert "the disk is full" in call("list").failed_with(1)


@pytest.mark.slow
def test_a_closed_pipe_ends_the_call_quietly(library: Call) -> None:
    process = start("list", "--json")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    assert process.wait(timeout=60) == 1


@pytest.mark.slow
def test_ctrl_c_in_the_middle_ends_the_process_in_order(pincite: Call) -> None:
    slow = "import asyncio; from pincite.engine.documents import Documents;"
    slow += "Documents.all = lambda self, listing: print('there', flush=True) or asyncio.sleep(60);"
    script = slow + "from pincite.cli import main; raise SystemExit(main(['list']))"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "there\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "pincite: interrupted\n")


def test_warnings_of_the_library_are_plain_lines() -> None:
    formatter = pincite.cli._OneLineFormatter(debug=False)
    record = logging.LogRecord("x", logging.WARNING, "f.py", 1, "job %s: two\nlines \x1b[2J", ("7",), None)
    assert formatter.format(record) == "pincite: warning: job 7: two lines \\x1b[2J"


def test_a_warnings_traceback_is_shown_with_debug_only() -> None:
    try:
        raise ValueError("deep inside")
    except ValueError:
        record = logging.LogRecord("x", logging.ERROR, "f.py", 1, "failed", None, sys.exc_info())
    assert pincite.cli._OneLineFormatter(debug=False).format(record) == "pincite: error: failed"
    assert "ValueError: deep inside" in pincite.cli._OneLineFormatter(debug=True).format(record)


def test_an_encoding_without_our_characters_is_no_reason_to_fail(library: Call) -> None:
    said = library("ask", "Where does the key to the generator room hang?", encoding="ascii")
    assert said.code == 0
    assert "\\u2502 The key to the generator room" in said.out
