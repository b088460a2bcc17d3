"""The beginnings of the documents that were changed last, for questions to begin with."""

from dataclasses import dataclass

from pincite.core.accounts.access import Scope
from pincite.store.database import Database, fetch_all

MAX_CHARS = 8000
"""Characters of each document; PostgreSQL reads only the beginning of a long text for them."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """The beginning of a document's text, with its title and language."""

    document_id: str
    title: str
    language: str
    text: str


async def beginnings(database: Database, scope: Scope, *, documents: int) -> list[Beginning]:
    """Return the beginnings of the documents that were changed last, newest first."""
    async with database.transaction(scope.person) as connection:
        found = await fetch_all(
            connection,
            "select d.id, d.title, coalesce((select c.language from chunk c where c.edition = e.key"
            "  and c.realm = any(%(realms)s) and c.level = 2 order by c.ordinal limit 1), ''),"
            " substr(v.text, v.body_start + 1, %(chars)s)"
            " from (select id, title, served, updated_at from document where realm = any(%(realms)s)"
            "  and served is not null order by updated_at desc, id limit %(documents)s) d"
            " join edition e on e.key = d.served join version v on v.key = e.version"
            " order by d.updated_at desc, d.id",
            {"realms": list(scope.realms), "documents": documents, "chars": MAX_CHARS},
        )
    return [Beginning(*row) for row in found]
