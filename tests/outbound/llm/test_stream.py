import asyncio
from collections.abc import AsyncGenerator, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.core.query.prompt import StreamPart, Usage
from pincite.errors import ProviderError
from pincite.outbound.llm import stream
from pincite.outbound.llm.stream import clean_stream

END = StreamPart(finish_reason="stop")


def said(pieces: Sequence[StreamPart | Exception | float], max_tokens: int = 1000) -> list[StreamPart]:
    async def source() -> AsyncGenerator[StreamPart, None]:
        for piece in pieces:
            if isinstance(piece, Exception):
                raise piece
            if isinstance(piece, float):
                await asyncio.sleep(piece)
            else:
                yield piece

    async def go() -> list[StreamPart]:
        return [piece async for piece in clean_stream(source(), "the server", max_tokens)]

    return asyncio.run(go())


def text_of(pieces: Sequence[StreamPart]) -> str:
    return "".join(piece.text for piece in pieces)


def test_text_passes_through_and_the_end_comes_once_with_all_that_is_known() -> None:
    cost = StreamPart(usage=Usage(7, 2))
    pieces = said([StreamPart("Hello", model="m"), StreamPart(" world"), END, cost, END])
    assert [piece.text for piece in pieces] == ["Hello", " world", ""]
    assert pieces[-1] == StreamPart(finish_reason="stop", model="m", usage=Usage(7, 2))
    assert [piece.finish_reason for piece in pieces[:-1]] == [None, None]


THOUGHTFUL = "\n<think>\nIs 2 < 3? Surely </ think>…\n</think>\n\n  Yes: <think>2</think> < 3."


@given(st.lists(st.integers(0, len(THOUGHTFUL)), max_size=10))
def test_thoughts_before_the_answer_are_left_out_wherever_the_pieces_are_cut(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(THOUGHTFUL)]
    pieces = [StreamPart(THOUGHTFUL[a:b]) for a, b in pairwise(places)]
    heard = said([*pieces, END])
    assert text_of(heard) == "Yes: <think>2</think> < 3."
    assert "".join(piece.thought for piece in heard) == "\nIs 2 < 3? Surely </ think>…\n"


@pytest.mark.parametrize("text", ["  <thin ice>", " plain", "<", "<think", "x <think>y</think>"])
def test_what_only_looks_like_thoughts_stays(text: str) -> None:
    assert text_of(said([*map(StreamPart, text), END])) == text


@pytest.mark.parametrize("pieces", [[], [StreamPart("half an ans")], [StreamPart(), StreamPart()]])
def test_an_answer_without_an_end_is_incomplete(pieces: list[StreamPart]) -> None:
    with pytest.raises(ProviderError, match="in the middle"):
        said(pieces)


def test_nothing_said_is_an_error_that_says_why() -> None:
    with pytest.raises(ProviderError, match=r"wrote nothing .*tool_calls"):
        said([StreamPart(finish_reason="tool_calls")])
    with pytest.raises(ProviderError, match=r"length\); raise llm.max_tokens"):
        said([StreamPart("<think>hm"), StreamPart(" hmm", finish_reason="length")])


def test_one_that_never_stops_thinking_is_stopped_as_well() -> None:
    with pytest.raises(ProviderError, match=r"wrote nothing \(finish reason: length\)"):
        said([StreamPart(thought="hm ")] * 10_000, max_tokens=10)


def test_a_server_that_never_stops_is_stopped() -> None:
    pieces = said([StreamPart("word ")] * 10_000, max_tokens=10)
    assert pieces[-1].finish_reason == "length"
    assert len(text_of(pieces)) < 200


def test_what_goes_wrong_after_the_end_spoils_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert text_of(said([StreamPart("x"), END, ProviderError("cut")])) == "x"
    monkeypatch.setattr(stream, "USAGE_TIMEOUT_S", 0.01)
    assert said([StreamPart("x"), END, 30.0])[-1].finish_reason == "stop"
