"""Enrichments: summaries and questions that a model wrote for chunks, cached with their document."""

from collections.abc import Mapping, Sequence

from pincite.core.documents.document import About, Enriched
from pincite.core.engines import BuildTarget
from pincite.errors import Conflict
from pincite.store.database import Database
from pincite.store.database import fetch_one as first
from pincite.store.indexing.jobs import Job


class Enrichments:
    """The cache of enrichments, within the documents of one owner."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def about(self, job: Job) -> About:
        """Return the metadata of a job's document; `Conflict` if it was removed."""
        query = (
            "select d.id, v.id, d.name, d.source_uri, d.given ->> 'author', d.given ->> 'description',"
            " d.given -> 'tags', d.given ->> 'title' from document d join version v on v.document_id = d.id"
            " where d.id = %(id)s and v.key = %(version)s"
        )
        values = {"id": job.document_id, "version": job.version}
        [found] = await self._database.run_batch(job.owner, query, values=values)
        if not found:
            raise Conflict("the document was removed while it was being processed")
        [(document_id, version, name, source_uri, author, description, tags, title)] = found
        return About(document_id, version, name, source_uri, author, description, tuple(tags or ()), title)

    async def known(self, owner: str, hashes: Sequence[bytes]) -> dict[bytes, Enriched]:
        """Return the cached enrichments of these hashes, from any document of this owner."""
        query = (
            "select distinct on (hash) hash, summary, questions from enrichment"
            " where hash = any(%(hashes)s) and realm = any ((select own_realms())::int[])"
        )
        [found] = await self._database.run_batch(owner, query, values={"hashes": list(hashes)})
        return {digest: Enriched(summary, tuple(questions)) for digest, summary, questions in found}

    async def keep(self, job: Job | BuildTarget, written: Mapping[bytes, Enriched]) -> None:
        """Store enrichments with the document of a job or a build; do nothing if the document was removed."""
        async with self._database.transaction(job.owner, durable=False) as connection:
            realm = await first(
                connection, "select realm from document where id = %s for key share", (job.document_id,)
            )
            if realm is None:
                return
            async with connection.cursor() as cursor:
                await cursor.executemany(
                    "insert into enrichment (document_id, realm, hash, summary, questions) values (%s, %s, %s, %s, %s)"
                    " on conflict do nothing",
                    [
                        (job.document_id, realm[0], digest, one.summary, list(one.questions))
                        for digest, one in written.items()
                    ],
                )
