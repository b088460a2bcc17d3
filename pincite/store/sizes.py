"""How much there is, whoever owns it: documents, passages, jobs, connections. Numbers only."""

from collections.abc import Mapping

from pincite.store.database import Database, rows


async def sizes(database: Database) -> dict[str, Mapping[str, float]]:
    """Of each thing how many in which state."""
    found: dict[str, dict[str, float]] = {"documents": {}, "chunks": {}, "jobs": {}}
    async with database.transaction("") as connection:
        for thing, state, amount in await rows(connection, "select thing, state, amount from library_sizes()"):
            found[thing][state] = float(amount)
    return {**found, "connections": database.connections()}
