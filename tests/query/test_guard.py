import asyncio
from collections.abc import Callable

import pytest

from pincite.core.answers import Question
from pincite.core.run import Run
from pincite.errors import Invalid
from pincite.query.guard import guard_in


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (Question(""), "empty"),
        (Question(" \n\t"), "empty"),
        (Question("ok", also=("",)), "empty"),
        (Question("x" * 4001), "4001 characters.*at most 4000"),
        (Question("a", also=("b",) * 5), "6 queries.*at most 5"),
    ],
)
def test_refused_with_what_to_do(make_run: Callable[..., Run], question: Question, message: str) -> None:
    with pytest.raises(Invalid, match=message):
        asyncio.run(guard_in(make_run(), question))


def test_what_a_database_cannot_hold_is_dropped(make_run: Callable[..., Run]) -> None:
    assert asyncio.run(guard_in(make_run(), Question(" a\0b "))).text == "a b"
    assert asyncio.run(guard_in(make_run(), Question("x" * 4000))).text == "x" * 4000
