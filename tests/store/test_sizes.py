"""How much there is, whoever owns it."""

from typing import Any

from pincite.store.sizes import sizes


def test_things_are_counted_by_their_state(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        assert (await sizes(shelf.database))["chunks"] == {"served": 0}
        await shelf.put("a.md", "One.", "Two.")
        await shelf.accept("b.md", "Waits.")
        await shelf.accept("c.md", "Is worked on.")
        await shelf.jobs.claim("w", 60)
        found = await sizes(shelf.database)
        assert found["documents"] == {"completed": 1, "pending": 2}
        assert found["chunks"] == {"served": 2}
        assert found["jobs"] == {"running": 1, "waiting": 1}
        assert set(found["connections"]) == {"open", "idle", "most", "waited_for"}
        assert found["connections"]["most"] == 6

    with_shelf(test)
