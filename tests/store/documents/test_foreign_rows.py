"""Rows of a query on another PostgreSQL as documents."""

import asyncio
from urllib.parse import urlencode

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from pincite.core.documents.sources import SourceAddress
from pincite.errors import Invalid, NotFound, ProviderBusy, ProviderRefused
from pincite.store.documents.foreign_rows import Source, row_text


def as_url(place: str) -> str:
    """A connection string as a URL."""
    given = conninfo_to_dict(place)
    name = given.pop("dbname")
    return f"postgresql:///{name}?{urlencode({key: str(value) for key, value in given.items()})}"


QUERY = "select id, title, price, body from article order by id"


def test_a_row_becomes_markdown() -> None:
    columns = ["id", "title", "price", "body", "note"]
    assert (
        row_text(columns, [7, "Lamp", 12.5, "A bright lamp.", None])
        == "# Lamp\n\nA bright lamp.\n\n- id: 7\n- price: 12.5\n"
    )
    assert row_text(["code", "count"], ["E-1", 3]) == "# code E-1\n\n- code: E-1\n- count: 3\n"


def test_rows_are_listed_with_stamps_and_read(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as other:
        other.execute("create table article (id int primary key, title text, price int, body text)")
        other.execute("insert into article values (1, 'Lamp', 12, 'Bright.'), (2, 'Rope', 4, 'Long.')")

        async def go() -> None:
            source = Source(SourceAddress(as_url(database_url), {"query": QUERY + ";"}))
            before = list(await source.items())
            assert [(item.key, item.name) for item in before] == [("1", "1.md"), ("2", "2.md")]
            assert (await source.read(before[1])).decode() == "# Rope\n\nLong.\n\n- id: 2\n- price: 4\n"
            other.execute("update article set price = 5 where id = 2")
            after = list(await source.items())
            assert [one.stamp == two.stamp for one, two in zip(before, after, strict=True)] == [True, False]
            other.execute("delete from article where id = 1")
            with pytest.raises(NotFound):
                await source.read(before[0])
            await source.close()

        asyncio.run(go())


@pytest.mark.parametrize(
    ("query", "error", "words"),
    [
        ("delete from pg_class", ProviderRefused, "refused the query"),
        ("select 1; select 2", ProviderRefused, "refused the query"),
        ("select no_such_column", ProviderRefused, "does not exist"),
        ("select 1 from generate_series(1, 2)", Invalid, "must be unique"),
    ],
)
def test_what_does_not_read_or_has_no_key_is_refused(
    database_url: str, query: str, error: type[Exception], words: str
) -> None:
    async def go() -> None:
        source = Source(SourceAddress(as_url(database_url), {"query": query}))
        try:
            await source.items()
        finally:
            await source.close()

    with pytest.raises(error, match=words):
        asyncio.run(go())


def test_wrong_addresses_are_told() -> None:
    with pytest.raises(Invalid, match="postgresql://host/database"):
        Source(SourceAddress("mysql://x/y", {"query": "select 1"}))
    with pytest.raises(Invalid, match="no password"):
        Source(SourceAddress("postgresql://a:secret@x/y", {"query": "select 1"}))
    with pytest.raises(Invalid, match="option query"):
        Source(SourceAddress("postgresql://x/y", {}))
    with pytest.raises(ProviderBusy, match="cannot be reached"):
        asyncio.run(Source(SourceAddress("postgresql://127.0.0.1:1/y", {"query": "select 1"})).items())
