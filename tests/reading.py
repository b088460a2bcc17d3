"""Parses files in the test process: starting a sandboxed process takes longer than most tests."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from pincite.ingest.read import reader_pool
from pincite.ingest.read.parse_and_chunk import Prepared, from_json, parse_and_chunk, to_json


def read_in_this_process(patch: pytest.MonkeyPatch) -> None:
    """Make every reader parse in this process, with the same code."""
    patch.setattr(reader_pool.Reader, "read", _read)


async def _read(
    _self: object, data: bytes | Path, parser: str, chunking: Any, cuts: Any = None, window: int = 0, **_told: object
) -> Prepared:
    content = data if isinstance(data, bytes) else data.read_bytes()
    return await asyncio.to_thread(_done, content, parser, chunking, cuts, window)


def _done(content: bytes, *how: Any) -> Prepared:
    return from_json(json.loads(to_json(parse_and_chunk(content, *how))))
