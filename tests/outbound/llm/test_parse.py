from typing import Any

import pytest

from pincite.core.query.prompt import StreamPart, Usage
from pincite.outbound.llm.parse import piece_of, text_of, usage_of, window_of


@pytest.mark.parametrize("value", [5, ["a"], {"a": 1}, True, None])
def test_what_is_no_text_is_not_taken_for_one(value: Any) -> None:
    with pytest.raises(TypeError):
        text_of(value)


def test_characters_that_can_neither_be_stored_nor_sent_on_are_replaced() -> None:
    assert text_of("a\ud800b\0c🎉") == "a\ufffdb\ufffdc🎉"


@pytest.mark.parametrize("value", [0, -1, True, 4096.0, "4096", None, 10**400])
def test_a_window_is_a_number_that_one_can_be(value: Any) -> None:
    assert window_of(value) is None
    assert window_of(4096) == 4096


@pytest.mark.parametrize("count", ["7", -1, float("nan"), 7.5, None, [], True, 10**400])
def test_implausible_token_usage_is_dropped(count: Any) -> None:
    assert usage_of(count, 1) is None
    assert usage_of(1, count) is None
    assert usage_of(0, 1) == Usage(0, 1)


def test_a_piece_has_text_and_names_or_nothing() -> None:
    assert piece_of(None, {"why": 1}, 5) == StreamPart()
    assert piece_of("a", "st\ud800op", "m") == StreamPart("a", finish_reason="st\ufffdop", model="m")
    with pytest.raises(TypeError):
        piece_of(["a"])
