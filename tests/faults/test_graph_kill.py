"""SIGKILL at each step of building the knowledge graph: a document has all of its graph or nothing of it."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pincite.core.documents.document import Upload
from tests.faults.dying import Mortal
from tests.faults.graph_builder import POINTS, build

FILES = {
    "film.md": b"# Tidal Song\n\nTidal Song was directed by Mira Okafor. It was shown in Lisbon.",
    "person.md": b"# Mira Okafor\n\nMira Okafor was born in Lagos. Mira Okafor studied at the Harbour College.",
}
COUNTS = """
    select d.name, b.signature is not null,
           (select count(*) from pincite.graph_mention m where m.edition = d.served),
           (select count(*) from pincite.graph_fact f where f.edition = d.served),
           (select count(*) from pincite.graph_edge g where g.edition = d.served)
    from pincite.document d left join pincite.engine_edition b on b.edition = d.served and b.engine = 'graph'
    order by d.name
"""


@pytest.mark.slow
def test_a_build_killed_at_any_step_serves_nothing_half(
    open_pincite: Callable[..., Any], database_url: str, tmp_path: Path
) -> None:
    async def add() -> None:
        async with open_pincite() as pincite:
            ids = [(await pincite.documents.upload(Upload(*file))).document.id for file in FILES.items()]
            pincite.services.workers.start()
            await asyncio.wait_for(pincite.documents.wait(ids), 120)

    def counted() -> list[tuple[Any, ...]]:
        with psycopg.connect(database_url) as admin:
            return admin.execute(COUNTS).fetchall()

    def again(point: str) -> tuple[int, list[str]]:
        with psycopg.connect(database_url) as admin:
            admin.execute("update pincite.engine_edition set lease_until = now() - interval '1 s', attempts = 0")
        return Mortal(build, str(tmp_path / "data"), database_url, point).end(120)

    asyncio.run(add())
    assert again("") == (0, ["done"])
    whole = counted()
    assert all(built and mentions and facts for _, built, mentions, facts, _ in whole)
    for point in POINTS:
        with psycopg.connect(database_url) as admin:
            for table in ("graph_mention", "graph_fact", "graph_edge", "graph_same", "engine_edition"):
                admin.execute(f"delete from pincite.{table}")
        assert again(point) == (-9, []), point
        for before, now in zip(whole, counted(), strict=True):
            assert now == before or now[1:] == (False, 0, 0, 0), (point, now)
        assert again("") == (0, ["done"])
        assert counted() == whole, point
