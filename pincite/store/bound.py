"""Several statements in one round trip, with bound parameters: values are never written into the statements.

psycopg's own pipeline and its dumpers of lists take as long as writing the values as text; this is half of it.
"""

import json
import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
import psycopg
from psycopg import AsyncConnection, generators
from psycopg.abc import PQGen
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

_PLACEHOLDER = re.compile(rb"%(?:%|\(([^)]+)\)s)")


class HalfVector(bytes):
    """A vector in the binary form of pgvector's type `halfvec`."""


def half_vector(vector: Sequence[float]) -> HalfVector:
    """Return the binary form of a vector."""
    return HalfVector(struct.pack(">HH", len(vector), 0) + np.asarray(vector, np.float32).astype(">f2").tobytes())


@dataclass(frozen=True, slots=True)
class Bound:
    """A statement with its parameters: their bytes, types and formats (0 text, 1 binary)."""

    statement: bytes
    values: Sequence[bytes | None]
    types: Sequence[int]
    formats: Sequence[int]


def bind(statement: bytes, values: Mapping[str, Any]) -> Bound:
    """Return a statement with `%(name)s` as one with the parameters that it names."""
    text, names = _numbered(statement)
    made = [_dumped(values[name]) for name in names]
    return Bound(text, [one[0] for one in made], [one[1] for one in made], [one[2] for one in made])


async def run(connection: AsyncConnection[TupleRow], batch: Iterable[Bound]) -> list[list[TupleRow]]:
    """Run statements in one round trip, which is one transaction unless they say otherwise; return the rows of each."""
    pgconn = connection.pgconn
    pgconn.enter_pipeline_mode()
    try:
        results = await connection.wait(_exchange(pgconn, batch))
    finally:
        _leave_pipeline(pgconn)
    for result in results:
        if result.status not in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK, ExecStatus.EMPTY_QUERY):
            raise error_from_result(result, encoding=connection.info.encoding)
    return [_rows(connection, result) for result in results]


def _exchange(pgconn: PGconn, batch: Iterable[Bound]) -> PQGen[list[PGresult]]:
    """Send all statements, then receive their results."""
    for one in batch:
        pgconn.send_query_params(one.statement, one.values, one.types, one.formats, 0)
    pgconn.pipeline_sync()
    yield from generators.send(pgconn)
    results = list[PGresult]()
    while True:
        result = yield from generators.fetch(pgconn)
        if result is None:  # between two statements
            continue
        if result.status == ExecStatus.PIPELINE_SYNC:
            return results
        results.append(result)


def _leave_pipeline(pgconn: PGconn) -> None:
    """End the pipeline; a connection that was left in the middle of one is closed, and the pool opens another."""
    try:
        pgconn.exit_pipeline_mode()
    except psycopg.OperationalError:
        if pgconn.status == ConnStatus.OK:
            pgconn.finish()


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
