"""The documents that are synchronised with the files of a watched folder."""

from collections.abc import Mapping
from dataclasses import dataclass

from pincite.core.accounts.access import Scope
from pincite.store.database import Database


@dataclass(frozen=True, slots=True)
class WatchedFile:
    """A document that was read from a watched file, and the checksum of its newest version."""

    document_id: str
    checksum: str


class WatchedFiles:
    """The synchronised documents of one person; `place` is the data folder of the machine that watches."""

    def __init__(self, database: Database, place: str) -> None:
        self._database = database
        self._place = place

    async def below(self, scope: Scope, root: str) -> dict[str, WatchedFile]:
        """Return the documents that are synchronised with a root folder, by the relative path of their file."""
        query = (
            "select o.path, o.document_id, v.checksum from origin o join document d on d.id = o.document_id"
            " join version v on v.key = d.latest where o.realm = any(%(realms)s) and d.owner = %(owner)s"
            " and o.place = %(place)s and o.root = %(root)s"
        )
        values = {"realms": list(scope.realms), "owner": scope.person, "place": self._place, "root": root}
        [found] = await self._database.run_batch(scope.person, query, values=values)
        return {path: WatchedFile(document_id, checksum) for path, document_id, checksum in found}

    async def record(self, scope: Scope, root: str, documents: Mapping[str, str]) -> None:
        """Record the document of each file path; a document has one file, and a file has one document."""
        paths, ids = list(documents), list(documents.values())
        async with self._database.transaction(scope.person) as connection:
            await connection.execute(
                "delete from origin where document_id = any(%s)"
                " or (realm = any(%s) and place = %s and root = %s and path = any(%s))",
                (ids, list(scope.realms), self._place, root, paths),
            )
            await connection.execute(
                "insert into origin (document_id, realm, place, root, path)"
                " select d.id, d.realm, %s, %s, n.path from unnest(%s::text[], %s::text[]) as n (id, path)"
                " join document d on d.id = n.id where d.owner = %s",
                (self._place, root, ids, paths, scope.person),
            )
