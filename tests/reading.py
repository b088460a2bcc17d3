"""Parses files in the test process: starting a sandboxed process takes longer than most tests."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pincite.ingest.read import reader_pool
from pincite.ingest.read.parse_and_chunk import Prepared, from_json, parse_and_chunk, to_json


def read_in_this_process(patch: pytest.MonkeyPatch) -> None:
    """Make every reader parse in this process, with the same code."""
    patch.setattr(reader_pool.Reader, "read", _read)


@pytest.fixture(scope="module", autouse=True)
def read_by_the_tests() -> Iterator[None]:
    """For the `conftest.py` of folders whose tests are not about reading files: every file is parsed in this process."""
    with pytest.MonkeyPatch.context() as patch:
        read_in_this_process(patch)
        yield


async def _read(
    _self: object, data: bytes | Path, parser: str, chunking: Any, cuts: Any = None, window: int = 0, **_told: object
) -> Prepared:
    content = data if isinstance(data, bytes) else data.read_bytes()
    return await asyncio.to_thread(_done, content, parser, chunking, cuts, window)


def _done(content: bytes, *how: Any) -> Prepared:
    return from_json(json.loads(to_json(parse_and_chunk(content, *how))))
