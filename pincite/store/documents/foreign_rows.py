"""Rows of a query on another PostgreSQL as documents. The query runs in a read-only transaction with a time limit."""

import hashlib
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.conninfo import make_conninfo
from psycopg.rows import TupleRow

from pincite.core.documents.sources import SourceAddress, SourceItem
from pincite.errors import Invalid, NotFound, ProviderBusy, ProviderRefused

OPTIONS = frozenset({"user", "query"})
_TITLES = ("title", "name", "subject")
_TEXTS = ("text", "body", "content", "description")
_FETCH_ROWS = 500


class Source:
    """Lists the rows of a query; its first column is the key. `url` is `postgresql://host/database`."""

    lists_all = True

    def __init__(self, address: SourceAddress) -> None:
        parts = urlsplit(address.url)
        if parts.scheme not in ("postgresql", "postgres"):
            raise Invalid("the URL must be postgresql://host/database", code="bad_address")
        if parts.password:
            raise Invalid("write no password into the URL; give secret_env instead", code="bad_address")
        self._query = address.options.get("query", "").strip().rstrip(";")
        if not self._query:
            raise Invalid("an SQL source needs the option query, such as: select id, title, body from article")
        self._address = address
        self._connection: AsyncConnection[TupleRow] | None = None

    async def items(self) -> Sequence[SourceItem]:
        """The rows of the query; the stamp is a digest of the row's text."""
        found: list[SourceItem] = []
        connection = await self._open()
        try:
            async with connection.transaction(), connection.cursor("pincite_rows") as cursor:
                await cursor.execute(sql.SQL(self._query))
                while rows := await cursor.fetchmany(_FETCH_ROWS):
                    columns = [column.name for column in cursor.description or ()]
                    found += [_item(columns, row) for row in rows]
                    if len(found) > self._address.max_items:
                        raise Invalid(f"the query has more than {self._address.max_items:,} rows; add a limit")
        except psycopg.Error as error:
            raise _refusal(error) from error
        if len({item.key for item in found}) < len(found):
            raise Invalid("the first column of the query must be unique; it is the key of a document")
        return found

    async def read(self, item: SourceItem) -> bytes:
        """A row as Markdown."""
        connection = await self._open()
        wrapped = sql.SQL("select * from ({}) as rows").format(sql.SQL(self._query))
        try:
            async with connection.transaction(), connection.cursor() as cursor:
                await cursor.execute(wrapped + sql.SQL(" limit 0"))
                columns = [column.name for column in cursor.description or ()]
                condition = sql.SQL(" where rows.{}::text = %s").format(sql.Identifier(columns[0]))
                await cursor.execute(wrapped + condition, (item.key,))
                row = await cursor.fetchone()
        except psycopg.Error as error:
            raise _refusal(error) from error
        if row is None:
            raise NotFound(f"there is no row {item.key} any more")
        return row_text(columns, row).encode()

    async def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            await self._connection.close()

    async def _open(self) -> AsyncConnection[TupleRow]:
        if self._connection is None:
            given = {"user": self._address.options.get("user"), "password": self._address.secret}
            place = make_conninfo(
                self._address.url,
                connect_timeout=int(self._address.timeout_s),
                options="-c default_transaction_read_only=on -c statement_timeout=120s",
                **{name: value for name, value in given.items() if value},
            )
            try:
                self._connection = await AsyncConnection.connect(place)
            except psycopg.Error as error:
                raise ProviderBusy(f"the database cannot be reached: {str(error).splitlines()[0]}") from error
        return self._connection


def _item(columns: Sequence[str], row: Sequence[Any]) -> SourceItem:
    key = str(row[0])
    safe = "".join(character if character.isalnum() or character in "-_." else "-" for character in key)[:100]
    digest = hashlib.sha256(row_text(columns, row).encode()).hexdigest()
    return SourceItem(key, digest, f"{safe or 'row'}.md")


def row_text(columns: Sequence[str], row: Sequence[Any]) -> str:
    """A row as Markdown: its title as heading, its long texts as paragraphs, the other columns as a list."""
    values = dict(zip(columns, row, strict=True))
    title = next((str(values[name]) for name in _TITLES if values.get(name)), f"{columns[0]} {row[0]}")
    texts = [str(values[name]) for name in _TEXTS if values.get(name)]
    used = {*_TEXTS, *(name for name in _TITLES if str(values.get(name)) == title)}
    fields = [f"- {name}: {value}" for name, value in values.items() if name not in used and value is not None]
    return "\n\n".join(["# " + " ".join(title.split()), *texts, "\n".join(fields)]).strip() + "\n"


def _refusal(error: psycopg.Error) -> ProviderRefused:
    lines = str(error).splitlines()
    return ProviderRefused(f"the database refused the query: {lines[0] if lines else type(error).__name__}")
