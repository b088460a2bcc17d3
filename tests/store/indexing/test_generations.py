from typing import Any

from pincite.core.documents.document import Parsed
from pincite.store.indexing.generations import Generations
from pincite.store.indexing.publish import ParsedVersion
from pincite.store.indexing.write_edition import EditionWriter


async def build(store: Any, signature: str) -> int:
    """Do every job of the index that is being built; return their number."""
    done = 0
    indexing = EditionWriter(store.database, store.indexing._index.model, signature, building=True)
    while job := await store.jobs.claim("builder", 60):
        target = await store.indexing.target(job)
        assert target.generation is not None
        edition = await indexing.begin(target)
        await indexing.serve(edition, ParsedVersion(Parsed("x", "markdown")))
        done += 1
    return done


def test_the_first_index_has_the_current_settings_until_a_switch(with_store: Any) -> None:
    async def test(store: Any) -> None:
        generations = Generations(store.database, store.files.place)
        assert await generations.searched() == 0
        index, signature, _ = await generations.serving("s0", {"a": 1})
        assert (signature, await generations.searched()) == ("s0", index)
        assert (await generations.serving("s1", {"a": 2}))[1:] == ("s1", {"a": 2})  # nothing is served yet
        await store.put("a.md", "alpha")
        assert (await generations.serving("s2", {"a": 3}))[1] == "s1"
        assert (await generations.serving("s1b", {"a": 2}))[1] == "s1b"  # the same settings under another name

    with_store(test)


def test_an_index_is_switched_to_when_every_document_is_indexed(with_store: Any) -> None:
    async def test(store: Any) -> None:
        generations = Generations(store.database, store.files.place)
        await generations.serving("s1", {"a": 1})
        for name in ("a.md", "b.md"):
            await store.put(name, f"text of {name}")
        assert await generations.build("s1", {"a": 1}, held=False) is None
        assert await generations.build("s2", {"a": 2}, held=False) is not None
        built = await generations.progress()
        assert built is not None
        assert (built.documents, built.built, built.waiting) == (2, 0, 2)
        assert not await generations.switch(anyway=True)
        before = await generations.searched()
        assert await build(store, "s2") == 2
        assert await generations.searched() != before
        assert {one.signature: one.state for one in await generations.all()} == {"s2": "serving", "s1": "standby"}
        assert await store.library.stale(await store.scope()) == 2  # the store's own signature is s1
        assert await generations.discard("standby") == 1
        assert await store.indexing.clear_abandoned() == 2

    with_store(test)


def test_standby_indexes_are_discarded_some_days_after_the_switch(with_store: Any) -> None:
    async def test(store: Any) -> None:
        generations = Generations(store.database, store.files.place)
        await generations.serving("s1", {"a": 1})
        await store.put("a.md", "text")
        async with store.database.transaction("") as connection:  # however old it was when it was replaced
            await connection.execute("update generation set created_at = now() - interval '90 days'")
        await generations.build("s2", {"a": 2}, held=False)
        assert await build(store, "s2") == 1
        assert await generations.discard("standby", days=30) == 0
        async with store.database.transaction("") as connection:
            await connection.execute("update generation set switched_at = now() - interval '31 days'")
        assert await generations.discard("standby", days=32) == 0
        assert await generations.discard("standby", days=30) == 1
        assert [one.signature for one in await generations.all()] == ["s2"]

    with_store(test)


def test_a_failed_document_blocks_the_switch_unless_it_is_forced(with_store: Any) -> None:
    async def test(store: Any) -> None:
        generations = Generations(store.database, store.files.place)
        await generations.serving("s1", {})
        document = await store.put("a.md", "alpha")
        await generations.build("s2", {"a": 2}, held=False)
        job = await store.jobs.claim("builder", 60)
        await store.indexing.fail(job, "refused", "too long for the model")
        assert (await store.library.get(await store.scope(), document)).status == "completed"
        assert not await generations.switch()
        [building] = [one for one in await generations.all() if one.state == "building"]
        assert building.failures == {document: "too long for the model"}
        assert await generations.switch(anyway=True)

    with_store(test)


def test_an_index_that_is_being_built_can_be_discarded(with_store: Any) -> None:
    async def test(store: Any) -> None:
        generations = Generations(store.database, store.files.place)
        await generations.serving("s1", {})
        await store.put("a.md", "alpha")
        await generations.build("s2", {"a": 2}, held=False)
        assert await generations.discard("building") == 1
        assert await store.jobs.claim("builder", 60) is None
        assert await generations.progress() is None

    with_store(test)
