"""After a document is removed and the library is purged, no file holds a word of its graph."""

import asyncio
from pathlib import Path

import pytest

from pincite.engine.app import AsyncPincite
from pincite.store.operations.purge import purge
from tests.store.operations.test_purge import invented, where


@pytest.mark.slow
def test_no_byte_of_a_removed_graph_is_left(tmp_path: Path) -> None:
    data, words = tmp_path / "data", invented(40)
    names = [word.capitalize() for word in words]
    lines = [f"{one} Berg was born in {other} City." for one, other in zip(names[::2], names[1::2], strict=True)]
    (tmp_path / "secret.md").write_text("# People\n\n" + "\n\n".join(lines))
    settings = {
        "data": data,
        "embedding.provider": "scripted",
        "ingest.workers": 1,
        "graph.build": "rules",
        "graph.vectors": True,
        "database.shared_buffers_mb": 16,
    }
    lower = [name[1:].encode() for name in names]

    def found() -> int:
        contents = b"".join(path.read_bytes() for path in data.rglob("*") if path.is_file())
        return sum(word in contents for word in lower)

    async def go() -> None:
        async with AsyncPincite(settings=settings) as pincite:
            document = await pincite.add(tmp_path / "secret.md")
            await asyncio.wait_for(pincite.admin.wait_until_built(), 120)
            card = await pincite.entity(f"{names[0]} Berg")
            assert [one.relation for one in card.facts] == ["was born in"]
            receipt = await pincite.remove(document.id)
            assert receipt.verified
            assert receipt.facts > len(names)
            async with pincite.services.database.administrator() as admin:
                await admin.execute("checkpoint")
            assert found() == len(names)  # in the log and in free pages
            await purge(
                pincite.services.database, pincite.services.blobs.files, embedded=True, report=lambda _step: None
            )
            assert found() == 0

    asyncio.run(go())
    assert found() == 0
    assert where(data, words) == {}
