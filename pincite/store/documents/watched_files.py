"""Which documents are kept in step with which files of a watched folder."""

from collections.abc import Mapping
from dataclasses import dataclass

from pincite.core.accounts.access import Scope
from pincite.store.database import Database


@dataclass(frozen=True, slots=True)
class WatchedFile:
    """A document that came from a file, and the checksum of its newest version."""

    document_id: str
    checksum: str


class WatchedFiles:
    """What is known of watched folders of the machine with this data folder, for one person at a time."""

    def __init__(self, database: Database, place: str) -> None:
        self._database = database
        self._place = place

    async def below(self, scope: Scope, root: str) -> dict[str, WatchedFile]:
        """The documents kept in step with a root, by the path of their file below it."""
        query = (
            "select o.path, o.document_id, v.checksum from origin o join document d on d.id = o.document_id"
            " join version v on v.key = d.latest where o.realm = any(%(realms)s) and d.owner = %(owner)s"
            " and o.place = %(place)s and o.root = %(root)s"
        )
        values = {"realms": list(scope.realms), "owner": scope.person, "place": self._place, "root": root}
        [found] = await self._database.at_once(scope.person, query, values=values)
        return {path: WatchedFile(document_id, checksum) for path, document_id, checksum in found}

    async def tell(self, scope: Scope, root: str, documents: Mapping[str, str]) -> None:
        """Say which document each file is, by its path; a document has one file and a file one document."""
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
