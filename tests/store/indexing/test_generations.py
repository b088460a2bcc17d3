from typing import Any

from pincite.core.documents.document import Parsed
from pincite.store.indexing.generations import Generations
from pincite.store.indexing.publish import ParsedVersion
from pincite.store.indexing.write_edition import EditionWriter


async def build(shelf: Any, signature: str) -> int:
    """Do every job that waits for the index that is built; how many there were."""
    done = 0
    indexing = EditionWriter(shelf.database, shelf.indexing._index.model, signature, beside=True)
    while job := await shelf.jobs.claim("builder", 60):
        target = await shelf.indexing.target(job)
        assert target.generation is not None
        edition = await indexing.begin(target)
        await indexing.serve(edition, ParsedVersion(Parsed("x", "markdown")))
        done += 1
    return done


def test_the_first_index_is_the_one_wanted_and_stays_until_a_switch(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        generations = Generations(shelf.database, shelf.files.place)
        assert await generations.searched() == 0
        index, signature, _ = await generations.serving("s0", {"a": 1})
        assert (signature, await generations.searched()) == ("s0", index)
        assert (await generations.serving("s1", {"a": 2}))[1:] == ("s1", {"a": 2})  # nothing is served yet
        await shelf.put("a.md", "alpha")
        assert (await generations.serving("s2", {"a": 3}))[1] == "s1"
        assert (await generations.serving("s1b", {"a": 2}))[1] == "s1b"  # the same settings under another name

    with_shelf(test)


def test_an_index_is_switched_to_when_every_document_has_its_part(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        generations = Generations(shelf.database, shelf.files.place)
        await generations.serving("s1", {"a": 1})
        for name in ("a.md", "b.md"):
            await shelf.put(name, f"text of {name}")
        assert await generations.build("s1", {"a": 1}, held=False) is None
        assert await generations.build("s2", {"a": 2}, held=False) is not None
        built = await generations.progress()
        assert built is not None
        assert (built.documents, built.built, built.waiting) == (2, 0, 2)
        assert not await generations.switch(anyway=True)
        before = await generations.searched()
        assert await build(shelf, "s2") == 2
        assert await generations.searched() != before
        assert {one.signature: one.state for one in await generations.all()} == {"s2": "serving", "s1": "standby"}
        assert await shelf.library.stale(await shelf.scope()) == 2  # the shelf's own signature is s1
        assert await generations.discard("standby") == 1
        assert await shelf.indexing.clear_abandoned() == 2

    with_shelf(test)


def test_an_index_that_stands_by_is_let_go_of_so_many_days_after_the_switch(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        generations = Generations(shelf.database, shelf.files.place)
        await generations.serving("s1", {"a": 1})
        await shelf.put("a.md", "text")
        async with shelf.database.transaction("") as connection:  # however old it was when it was replaced
            await connection.execute("update generation set created_at = now() - interval '90 days'")
        await generations.build("s2", {"a": 2}, held=False)
        assert await build(shelf, "s2") == 1
        assert await generations.discard("standby", days=30) == 0
        async with shelf.database.transaction("") as connection:
            await connection.execute("update generation set switched_at = now() - interval '31 days'")
        assert await generations.discard("standby", days=32) == 0
        assert await generations.discard("standby", days=30) == 1
        assert [one.signature for one in await generations.all()] == ["s2"]

    with_shelf(test)


def test_a_document_that_cannot_be_built_holds_the_switch_until_somebody_says_so(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        generations = Generations(shelf.database, shelf.files.place)
        await generations.serving("s1", {})
        document = await shelf.put("a.md", "alpha")
        await generations.build("s2", {"a": 2}, held=False)
        job = await shelf.jobs.claim("builder", 60)
        await shelf.indexing.fail(job, "refused", "too long for the model")
        assert (await shelf.library.get(await shelf.scope(), document)).status == "completed"
        assert not await generations.switch()
        [building] = [one for one in await generations.all() if one.state == "building"]
        assert building.failures == {document: "too long for the model"}
        assert await generations.switch(anyway=True)

    with_shelf(test)


def test_a_building_index_can_be_let_go(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        generations = Generations(shelf.database, shelf.files.place)
        await generations.serving("s1", {})
        await shelf.put("a.md", "alpha")
        await generations.build("s2", {"a": 2}, held=False)
        assert await generations.discard("building") == 1
        assert await shelf.jobs.claim("builder", 60) is None
        assert await generations.progress() is None

    with_shelf(test)
