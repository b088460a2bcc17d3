"""Work is cancelled when the client disconnects."""

import asyncio
from typing import NoReturn

import pytest
from starlette.requests import ClientDisconnect

from pincite.api.streaming.disconnect import run_until_error, until_disconnect, wait_for_disconnect


async def stays() -> dict[str, str]:
    await asyncio.sleep(60)
    raise AssertionError


async def leaves() -> dict[str, str]:
    await asyncio.sleep(0.01)
    return {"type": "http.disconnect"}


def test_the_result_is_returned() -> None:
    async def work() -> int:
        return 7

    assert asyncio.run(until_disconnect(stays, work())) == 7


def test_an_error_is_raised() -> None:
    async def work() -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(until_disconnect(stays, work()))


def test_a_client_that_leaves_cancels_the_work_and_waits_for_its_end() -> None:
    ended = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            ended.append(True)

    with pytest.raises(ClientDisconnect):
        asyncio.run(until_disconnect(leaves, work()))
    assert ended


def test_the_rest_of_a_body_is_not_a_disconnect() -> None:
    messages = iter([{"type": "http.request", "body": b""}])

    async def receive() -> dict[str, object]:
        return next(messages, None) or await stays()

    async def work() -> int:
        await asyncio.sleep(0.01)
        return 7

    assert asyncio.run(until_disconnect(receive, work())) == 7


def test_a_watcher_that_raises_cancels_the_work() -> None:
    ended = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    async def throw() -> NoReturn:
        await asyncio.sleep(0.01)
        raise PermissionError

    with pytest.raises(PermissionError):
        asyncio.run(run_until_error(work(), wait_for_disconnect(stays), throw()))  # type: ignore[arg-type]
    assert ended
