"""Documents that were fetched from the web: their URLs, and the validators (ETag, Last-Modified) of their servers."""

from dataclasses import dataclass

from pincite.core.accounts.access import Scope
from pincite.store.database import Database, fetch_one


@dataclass(frozen=True, slots=True)
class Fetch:
    """A document that was fetched from a URL; its validators are empty if its bytes changed or indexing failed."""

    document_id: str
    folder: str
    name: str
    etag: str
    modified: str


class Fetches:
    """The fetched documents of one person at a time."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def known(self, scope: Scope, url: str) -> Fetch | None:
        """Return the document that was fetched from a URL, if any."""
        query = (
            "select d.id, d.folder, d.name, case when s.same then f.etag else '' end,"
            " case when s.same then f.modified else '' end from fetched f join document d on d.id = f.document_id"
            " join version v on v.key = d.latest,"
            " lateral (select f.checksum = v.checksum and d.status <> 'error' as same) s"
            " where f.url = %s and f.realm = any(%s) and d.owner = %s order by d.created_at limit 1"
        )
        async with self._database.transaction(scope.person) as connection:
            row = await fetch_one(connection, query, (url, list(scope.realms), scope.person))
        return Fetch(*row) if row else None

    async def is_taken(self, scope: Scope, folder: str, name: str) -> bool:
        """Whether a document has this name in this folder, whatever its source."""
        query = "select from document where owner = %s and realm = any(%s) and folder = %s and name = %s"
        async with self._database.transaction(scope.person) as connection:
            return await fetch_one(connection, query, (scope.person, list(scope.realms), folder, name)) is not None

    async def record(self, scope: Scope, document_id: str, url: str, *, etag: str, modified: str) -> None:
        """Record the URL that a document's newest bytes were fetched from, and the validators of its server."""
        query = (
            "insert into fetched (document_id, realm, url, checksum, etag, modified)"
            " select d.id, d.realm, %(url)s, v.checksum, %(etag)s, %(modified)s from document d"
            " join version v on v.key = d.latest where d.id = %(id)s and d.owner = %(owner)s"
            " on conflict (document_id) do update set url = excluded.url, checksum = excluded.checksum,"
            " etag = excluded.etag, modified = excluded.modified"
        )
        values = {"id": document_id, "owner": scope.person, "url": url, "etag": etag, "modified": modified}
        async with self._database.transaction(scope.person) as connection:
            await connection.execute(query, values)
