"""Several statements in one round trip, with bound parameters: values are never written into the statements.

psycopg's own pipeline, its dumpers of lists and its way to wait take as long as writing the values as text; this takes
a third of it.
"""

import asyncio
import json
import re
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import chain, count
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import psycopg
from psycopg import AsyncConnection
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus
from psycopg.pq.abc import PGconn, PGresult
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

INFERRED, BYTEA, INT8, INT4, TEXT, FLOAT8, TIMESTAMPTZ = 0, 17, 20, 23, 25, 701, 1184
BYTEA_ARRAY, INT4_ARRAY, TEXT_ARRAY, INT8_ARRAY, JSONB = 1001, 1007, 1009, 1016, 3802
"""PostgreSQL's numbers of types; with 0 the server infers the type from the statement."""
MAX_INT4 = 2**31 - 1
CANCEL_TIMEOUT_S = 5.0
"""Seconds to wait for the server to cancel a statement."""

_prepared: "WeakKeyDictionary[PGconn, dict[tuple[bytes, tuple[int, ...]], bytes]]" = WeakKeyDictionary()
"""The names of the statements that each connection has prepared, by statement and types."""
_numbers = count()

_PLACEHOLDER = re.compile(rb"%(?:%|\(([^)]+)\)s)")


class HalfVector(bytes):
    """A vector in the binary form of pgvector's type `halfvec`."""


def half_vector(vector: Sequence[float]) -> HalfVector:
    """Return the binary form of a vector."""
    return HalfVector(struct.pack(">HH", len(vector), 0) + np.asarray(vector, np.float32).astype(">f2").tobytes())


@dataclass(frozen=True, slots=True)
class Bound:
    """A statement with its parameters: their bytes, types and formats (0 text, 1 binary).

    A `prepared` statement is parsed once per connection.
    """

    statement: bytes
    values: Sequence[bytes | None]
    types: Sequence[int]
    formats: Sequence[int]
    prepared: bool = False


def bind(statement: bytes, values: Mapping[str, Any], *, prepared: bool = False) -> Bound:
    """Return a statement with `%(name)s` as one with the parameters that it names."""
    text, names = _numbered(statement)
    made = [_dumped(values[name]) for name in names]
    return Bound(text, [one[0] for one in made], [one[1] for one in made], [one[2] for one in made], prepared)


async def run(connection: AsyncConnection[TupleRow], batch: Iterable[Bound]) -> list[list[TupleRow]]:
    """Run statements in one round trip, which is one transaction unless they say otherwise; return the rows of each.

    If the caller is cancelled, the statement is, too, and the connection is closed; the pool opens another.
    """
    pgconn = connection.pgconn
    pgconn.enter_pipeline_mode()
    try:
        answers = [answer for one in batch for answer in _send_one(pgconn, one)]
        pgconn.pipeline_sync()
        results = await _Exchange(pgconn).results()
    except BaseException:
        if pgconn.status == ConnStatus.OK:
            with suppress(psycopg.Error):
                await connection.cancel_safe(timeout=CANCEL_TIMEOUT_S)
            await connection.close()
        raise
    pgconn.exit_pipeline_mode()
    for result in results:
        if result.status not in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
            _forget_prepared(pgconn)
            raise error_from_result(result, encoding=connection.info.encoding)
    return [_rows(connection, result) for result, is_answer in zip(results, answers, strict=True) if is_answer]


def _send_one(pgconn: PGconn, one: Bound) -> Iterable[bool]:
    """Queue a statement; return for each result that it will have whether this holds its rows."""
    if not one.prepared:
        pgconn.send_query_params(one.statement, one.values, one.types, one.formats, 0)
        return (True,)
    known, key = _prepared.setdefault(pgconn, {}), (one.statement, tuple(one.types))
    name = known.get(key)
    if name is not None:
        pgconn.send_query_prepared(name, one.values, one.formats, 0)
        return (True,)
    name = known[key] = b"pincite_%d" % next(_numbers)
    pgconn.send_prepare(name, one.statement, one.types)
    pgconn.send_query_prepared(name, one.values, one.formats, 0)
    return (False, True)


def _forget_prepared(pgconn: PGconn) -> None:
    """Prepare everything anew: after an error it is unknown which statements the server has prepared."""
    _prepared.pop(pgconn, None)


class _Exchange:
    """Sends what is queued and receives the results; each piece is taken when it arrives, without waking a task."""

    def __init__(self, pgconn: PGconn) -> None:
        self._pgconn = pgconn
        self._received = list[PGresult]()
        self._loop = asyncio.get_running_loop()
        self._end: asyncio.Future[None] = self._loop.create_future()

    async def results(self) -> list[PGresult]:
        """Return the results of all statements up to the synchronisation point."""
        socket = self._pgconn.socket
        self._loop.add_reader(socket, self._attempt, self._receive)
        try:
            if self._pgconn.flush():
                self._loop.add_writer(socket, self._attempt, self._send)
            await self._end
        finally:
            self._loop.remove_reader(socket)
            self._loop.remove_writer(socket)
        return self._received

    def _attempt(self, step: Callable[[], None]) -> None:
        try:
            step()
        except psycopg.Error as error:
            if not self._end.done():
                self._end.set_exception(error)

    def _send(self) -> None:
        if not self._pgconn.flush():
            self._loop.remove_writer(self._pgconn.socket)

    def _receive(self) -> None:
        self._pgconn.consume_input()
        nothing = False  # between two results there is none; two times none means that the connection is lost
        while not self._end.done() and not self._pgconn.is_busy():
            result = self._pgconn.get_result()
            if result is None and nothing:
                raise psycopg.OperationalError("the connection to the database is lost")
            nothing = result is None
            if result is not None and result.status == ExecStatus.PIPELINE_SYNC:
                self._end.set_result(None)
            elif result is not None:
                self._received.append(result)


def _rows(connection: AsyncConnection[TupleRow], result: PGresult) -> list[TupleRow]:
    if result.status != ExecStatus.TUPLES_OK:
        return []
    transformer = Transformer(connection)
    transformer.set_pgresult(result)
    return transformer.load_rows(0, result.ntuples, tuple)


@lru_cache(maxsize=512)
def _numbered(statement: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Return a statement with `$1`, `$2` … in place of its named parameters, and the names in this order."""
    names: dict[bytes, int] = {}

    def number(found: re.Match[bytes]) -> bytes:
        return b"%" if found[1] is None else b"$%d" % names.setdefault(found[1], len(names) + 1)

    return _PLACEHOLDER.sub(number, statement), tuple(name.decode() for name in names)


def _dumped(value: Any) -> tuple[bytes | None, int, int]:
    """Return the bytes of a value, its type and its format."""
    if value is None:
        return None, INFERRED, 0
    if isinstance(value, str):
        return value.encode(), INFERRED, 0
    if isinstance(value, bool):
        return b"t" if value else b"f", INFERRED, 0
    if isinstance(value, int):
        return str(value).encode(), INT4 if abs(value) <= MAX_INT4 else INT8, 0
    if isinstance(value, list | tuple):
        return _dumped_list(value)
    if isinstance(value, HalfVector):
        return value, INFERRED, 1
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value), BYTEA, 1
    if isinstance(value, float):
        return repr(value).encode(), FLOAT8, 0
    if isinstance(value, Jsonb):
        return json.dumps(value.obj).encode(), JSONB, 0
    if isinstance(value, datetime):
        return value.isoformat().encode(), TIMESTAMPTZ, 0
    return _dumped_by_psycopg(value)


def _dumped_by_psycopg(value: Any) -> tuple[bytes | None, int, int]:
    transformer = Transformer()
    dumper = transformer.get_dumper(value, PyFormat.AUTO)
    dumped = dumper.dump(value)
    return None if dumped is None else bytes(dumped), dumper.oid, int(dumper.format)


def _dumped_list(values: Sequence[Any]) -> tuple[bytes | None, int, int]:
    """Return a list as a binary array of its items' type."""
    if not values:
        return b"{}", INFERRED, 0
    first = next((one for one in values if one is not None), "")
    if type(first) is int and None not in values:
        return _dumped_ints(values)
    if isinstance(first, str):
        return _array([None if one is None else one.encode() for one in values], TEXT), TEXT_ARRAY, 1
    if isinstance(first, bytes):
        return _array(values, BYTEA), BYTEA_ARRAY, 1
    return _dumped_by_psycopg(list(values))


def _dumped_ints(values: Sequence[int]) -> tuple[bytes | None, int, int]:
    if max(values) > MAX_INT4 or min(values) < -MAX_INT4:
        return _array([struct.pack(">q", one) for one in values], INT8), INT8_ARRAY, 1
    items = struct.pack(f">{2 * len(values)}i", *chain.from_iterable((4, one) for one in values))
    return struct.pack(">5i", 1, 0, INT4, len(values), 1) + items, INT4_ARRAY, 1


def _array(items: Sequence[bytes | None], kind: int) -> bytes:
    """Return the binary form of an array of items in their binary form."""
    parts = [struct.pack(">5i", 1, int(None in items), kind, len(items), 1)]
    for item in items:
        parts.append(struct.pack(">i", -1) if item is None else struct.pack(">i", len(item)) + item)
    return b"".join(parts)
