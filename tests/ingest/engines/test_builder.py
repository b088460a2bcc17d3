"""Builds of engines: in the background, in one transaction, removed with the document; a failure leaves a note."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import psycopg
import pytest

from pincite.core.documents.document import Upload
from pincite.core.engines import BuildSource, BuildTarget, BuiltEngine
from pincite.errors import Invalid, ProviderError
from pincite.ingest.engines.builder import Built, EngineWorker
from pincite.store.database import Connection


class Nothing:
    """Rows of an engine that has no table yet."""

    async def write(self, connection: Connection, target: BuildTarget, realm: int) -> None:
        pass


class Builder:
    """Raises the errors it is given, one per call, then builds."""

    engine: BuiltEngine = "late"

    def __init__(self, *errors: Exception, note: str = "", signature: str = "s1") -> None:
        self.signature, self.errors, self.note = signature, list(errors), note
        self.sources: list[BuildSource] = []

    async def build(self, target: BuildTarget, source: BuildSource) -> Built:
        self.sources.append(source)
        if self.errors:
            raise self.errors.pop(0)
        return Built(Nothing(), self.note)


def never() -> bool:
    return False


async def prepared(pincite: Any, *names: str) -> list[str]:
    added = [await pincite.documents.upload(Upload(name, b"# Title\n\nSome words.")) for name in names]
    ids = [one.document.id for one in added]
    pincite.services.workers.start()
    await asyncio.wait_for(pincite.documents.wait(ids), 60)
    return ids


async def work(pincite: Any, builder: Builder) -> None:
    pincite.services.builders = lambda: [builder]
    await EngineWorker(lambda: pincite.services.engine_builds, lambda: [builder]).work(never)


async def progress(pincite: Any, builder: Builder) -> tuple[int, int, int]:
    scope = await pincite.services.scope()
    done = await pincite.services.engine_builds.progress("late", scope, builder.signature)
    return done.documents, done.built, done.failed


def test_every_served_document_is_built_once(open_pincite: Callable[..., Any]) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            builder = Builder()
            await prepared(pincite, "a.md", "b.md")
            assert await progress(pincite, builder) == (2, 0, 0)
            assert not await pincite.services.engine_builds.built(await pincite.services.scope())
            await work(pincite, builder)
            await work(pincite, builder)
            assert [[one.text for one in source.passages] for source in builder.sources] == [
                ["# Title\n\nSome words."]
            ] * 2
            assert await progress(pincite, builder) == (2, 2, 0)
            assert await pincite.services.engine_builds.built(await pincite.services.scope()) == {"late"}
            other = Builder(signature="s2")  # other settings: all are built again
            await work(pincite, other)
            assert (len(other.sources), await progress(pincite, other)) == (2, (2, 2, 0))

    asyncio.run(go())


@pytest.mark.parametrize(
    ("builder", "reason"),
    [
        (Builder(ProviderError("the model is down")), "the model is down"),
        (Builder(ZeroDivisionError("oops")), "ZeroDivisionError: oops"),
        (Builder(note="2 passages were left out"), "2 passages were left out"),
    ],
)
def test_a_failure_leaves_a_note_and_is_built_again_on_request(
    open_pincite: Callable[..., Any], builder: Builder, reason: str
) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            [document_id] = await prepared(pincite, "a.md")
            await work(pincite, builder)
            document = await pincite.get(document_id)
            assert (document.status, len(document.notes), reason in document.notes[0]) == ("completed", 1, True)
            assert "pincite reindex --late" in document.notes[0]
            assert await progress(pincite, builder) == (1, 1, 1)
            builder.note = ""
            await work(pincite, builder)
            assert len(builder.sources) == 1  # not again by itself
            assert await pincite.admin.build("late") == 1
            await work(pincite, builder)
            assert (await progress(pincite, builder), (await pincite.get(document_id)).notes) == ((1, 1, 0), ())

    asyncio.run(go())


def test_a_build_that_was_cut_off_is_done_after_its_lease(open_pincite: Callable[..., Any], database_url: str) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            builds, builder = pincite.services.engine_builds, Builder()
            await prepared(pincite, "a.md")
            claimed = await builds.claim("late", "s1", lease_s=1000, most=9)  # by a process that is killed then
            assert len(claimed) == 1
            await work(pincite, builder)
            assert builder.sources == []
            with psycopg.connect(database_url) as admin:
                admin.execute("update pincite.engine_edition set lease_until = now() - interval '1 second'")
            await work(pincite, builder)
            assert await progress(pincite, builder) == (1, 1, 0)
            assert not await builds.renew("late", claimed[0][0], 10)  # the killed one may not write any more

    asyncio.run(go())


def test_a_document_that_is_removed_or_replaced_meanwhile_gets_nothing(open_pincite: Callable[..., Any]) -> None:
    class Removes(Builder):
        def __init__(self, pincite: Any, document_id: str) -> None:
            super().__init__()
            self.pincite, self.document_id = pincite, document_id

        async def build(self, target: BuildTarget, source: BuildSource) -> Built:
            assert (await self.pincite.remove(self.document_id)).verified
            return await super().build(target, source)

    async def go() -> None:
        async with open_pincite() as pincite:
            [document_id] = await prepared(pincite, "a.md")
            await work(pincite, Removes(pincite, document_id))
            assert not await pincite.services.engine_builds.built(await pincite.services.scope())

    asyncio.run(go())


def test_an_engine_that_is_off_is_not_built(open_pincite: Callable[..., Any]) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            assert pincite.services.builders() == []
            with pytest.raises(Invalid, match=r"late\.build is off"):
                await pincite.admin.build("late")

    asyncio.run(go())


def test_builds_wait_while_documents_are_indexed(open_pincite: Callable[..., Any]) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            builder = Builder()
            await prepared(pincite, "a.md", "b.md")
            busy: Sequence[bool] = iter([False, True, True, True])  # type: ignore[assignment]
            engines = EngineWorker(lambda: pincite.services.engine_builds, lambda: [builder])
            await engines.work(lambda: next(busy))  # type: ignore[call-overload]
            assert len(builder.sources) == 1
            [(_, attempts)] = await pincite.services.engine_builds.claim("late", "s1", lease_s=60, most=9)
            assert attempts == 1  # the other was given back

    asyncio.run(go())
