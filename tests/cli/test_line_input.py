"""Lines of input: read until the end, and errors of the reader."""

import asyncio
import io
import sys

import pytest

from pincite.cli.line_input import read_lines


def lines() -> list[str]:
    async def collect() -> list[str]:
        return [line async for line in read_lines(interactive=False)]

    return asyncio.run(collect())


def test_lines_are_stripped_and_read_until_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("  one \n\ntwo"))
    assert lines() == ["one", "", "two"]


def test_lone_surrogates_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("a\ud800b\n"))
    assert lines() == ["a?b"]


def test_an_error_of_the_reader_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(io.StringIO):
        def readline(self, *_: object) -> str:
            raise OSError("gone")

    monkeypatch.setattr(sys, "stdin", Broken())
    with pytest.raises(OSError, match="gone"):
        lines()
