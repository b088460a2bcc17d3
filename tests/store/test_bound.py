"""Parameters are bound: what is sent arrives as it is, whatever it holds."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pincite.store.bound import _numbered, half_vector
from pincite.store.database import Database

NASTY = "'; drop table pincite.document; -- \\ \" %s $1 {a,b} \x1f ß 漢"


@pytest.fixture
def with_database(database_url: str) -> Callable[..., Any]:
    """Return a function that runs an async test with an open database."""

    def run(test: Callable[[Database], Any]) -> None:
        async def main() -> None:
            database = await Database.open(database_url, pool_size=2)
            try:
                await test(database)
            finally:
                await database.close()

        asyncio.run(main())

    return run


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("text", NASTY),
        ("text", ""),
        ("int", -7),
        ("bigint", 2**40),
        ("float8", 0.1),
        ("boolean", True),
        ("bytea", b"\0\xff'"),
        ("timestamptz", datetime(2026, 11, 16, 12, 30, 0, 123456, tzinfo=UTC)),
        ("text[]", [NASTY, "", "NULL", "{}"]),
        ("text[]", ["a", None, "b"]),
        ("text[]", []),
        ("int[]", [1, -2, 2**31 - 1]),
        ("int[]", []),
        ("bigint[]", [1, 2**40, -(2**40)]),
        ("bytea[]", [b"\0", b"", b"\xff"]),
        ("float8[]", [0.5, 1e300]),
        ("boolean", None),
    ],
)
def test_a_value_comes_back_as_it_was_sent(with_database: Any, kind: str, value: Any) -> None:
    async def test(database: Database) -> None:
        query = f"select %(value)s::{kind}, %(value)s::{kind}".encode()
        [[row]] = await database.run_batch("", query, values={"value": value, "not used": object()})
        assert row == (value, value)

    with_database(test)


def test_json_and_vectors_come_back_as_they_were_sent(with_database: Any) -> None:
    async def test(database: Database) -> None:
        values = {"json": Jsonb({"a": [1, NASTY]}), "vector": half_vector([0.5, -1, 0.25])}
        query = "select %(json)s::jsonb, (%(vector)s::halfvec)::text"
        [[row]] = await database.run_batch("", query, values=values)
        assert row == ({"a": [1, NASTY]}, "[0.5,-1,0.25]")

    with_database(test)


def test_parameters_are_numbered_and_a_double_percent_sign_is_one() -> None:
    assert _numbered(b"select %(a)s, 7 %% 2, %(b.c)s, %(a)s") == (b"select $1, 7 % 2, $2, $1", ("a", "b.c"))


def test_a_batch_is_one_transaction_and_its_person_is_gone_after_it(with_database: Any) -> None:
    async def test(database: Database) -> None:
        whose = "select current_setting('pincite.person', true), txid_current()"
        [[(first, one)], [(second, other)]] = await database.run_batch("ada", whose, whose, values={})
        assert (first, second, one == other) == ("ada", "ada", True)
        [[(nobody, _)]] = await database.run_batch("", whose, values={})
        assert nobody == ""
        added = "insert into folder (owner, path) values ('local', 'x')"
        with pytest.raises(psycopg.errors.DivisionByZero):
            await database.run_batch("local", added, "select 1 / 0", values={})
        [there] = await database.run_batch("local", "select path from folder", values={})
        assert there == []

    with_database(test)


def test_the_connection_works_after_an_error_and_after_a_cancelled_batch(with_database: Any) -> None:
    async def test(database: Database) -> None:
        for _ in range(3):  # more than there are connections
            with pytest.raises(psycopg.errors.UndefinedTable):
                await database.run_batch("", "select 1", "select * from nothing", "select 2", values={})
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(database.run_batch("", "select pg_sleep(60)", values={}), 0.1)
        results = await asyncio.gather(*(database.run_batch("", f"select {n}".encode(), values={}) for n in range(8)))
        assert results == [[[(n,)]] for n in range(8)]

    with_database(test)


def test_a_statement_runs_with_each_set_of_values_in_one_transaction(with_database: Any) -> None:
    async def test(database: Database) -> None:
        query = "select %(n)s::int * 2, txid_current()"
        found = await database.run_each("", query, [{"n": n} for n in range(3)])
        assert [rows[0][0] for rows in found] == [0, 2, 4]
        assert len({rows[0][1] for rows in found}) == 1

    with_database(test)


def test_a_prepared_statement_is_parsed_once_and_obeys_the_person_of_each_batch(with_database: Any) -> None:
    async def test(database: Database) -> None:
        query = "select current_setting('pincite.person'), %(ids)s::int[], (select count(*) from document)"
        for person, ids in (("local", [1]), ("ada", []), ("local", [2, 3]), ("", [2**30])):
            [rows] = await database.run_batch(person, query, values={"ids": ids}, by_key=True)
            assert rows == [(person, ids, 0)]
        await asyncio.gather(*(database.run_batch("", "select 1", values={}, by_key=True) for _ in range(8)))
        counted = "select count(*) from pg_prepared_statements where statement = 'select 1'"
        [[(times,)]] = await database.run_batch("", counted, values={})
        assert times == 1

    with_database(test)


def test_prepared_statements_work_after_an_error(with_database: Any) -> None:
    async def test(database: Database) -> None:
        divide = "select 6 / %(by)s::int"
        for _ in range(5):  # more than there are connections
            with pytest.raises(psycopg.errors.DivisionByZero):
                await database.run_batch("", "select 1", divide, "select 2", values={"by": 0}, by_key=True)
            found = await database.run_batch("", "select 1", divide, "select 2", values={"by": 3}, by_key=True)
            assert found == [[(1,)], [(2,)], [(2,)]]

    with_database(test)
