"""The rows of the summary tree: in one transaction, gone with any document below, built again after a change."""

import asyncio
from contextlib import suppress
from typing import Any

import psycopg
import pytest

from pincite.core.documents.document import Receipt
from pincite.ingest.tree import builder as tree
from pincite.store.access.permissions import Permissions
from pincite.store.access.users import Users
from pincite.store.engines import tree_rows
from tests.store.engines.building import build, rows, texts_of, tree_builder, tree_search

A, B, C = "The dome shutter opens at dusk.", "The kitchen bakes bread daily.", "The cable car stops in strong wind."
SHARED = "select count(*) from tree_node where edition is null"
OWN = "select count(*) from tree_node where edition is not null"


async def three(store: Any, folder: str = "f") -> list[str]:
    return [await store.put(f"{n}.md", text, folder=folder) for n, text in enumerate((A, B, C))]


def test_each_document_and_each_folder_has_a_tree(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await three(store, "f")
        await three(store, "g")
        await build(store, tree_builder(store))
        found = await rows(store, "select folder, cardinality(passages), text from tree_node where edition is null")
        assert sorted((folder, count) for folder, count, _ in found) == [("f", 3), ("g", 3)]
        assert all(sentence in text for _, _, text in found for sentence in (A, B, C))
        assert await rows(store, OWN) == [(6,)]
        assert await tree_builder(store).unfinished() == 0

    with_store(test)


def test_every_sentence_of_a_summary_is_a_span_of_its_passage(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await three(store)
        await build(store, tree_builder(store))
        chunks = dict(await rows(store, "select key, text from chunk where level = 2"))
        for text, numbers in await rows(store, "select text, sentences from tree_node"):
            spans = zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)
            assert [chunks[key][start:end] for key, start, end in spans] == text.split("\n")

    with_store(test)


def test_removing_a_document_removes_every_node_with_its_words(with_store: Any, database_url: str) -> None:
    async def test(store: Any) -> None:
        ids = await three(store)
        await build(store, tree_builder(store))
        receipt: Receipt = await store.removal.remove(await store.scope(), ids[0])
        assert (receipt.summaries, receipt.verified) == (2, True)  # its own tree, and the one of its folder
        with psycopg.connect(database_url) as admin:
            for table in ("tree_node", "tree_member"):
                left = admin.execute(f"select count(*) from pincite.{table} t where t::text like '%dome%'").fetchone()
                assert left == (0,)
        assert (await rows(store, OWN), await rows(store, SHARED)) == ([(2,)], [(0,)])
        assert await tree_builder(store).unfinished() == 1
        await build(store, tree_builder(store))
        assert await rows(store, "select cardinality(passages) from tree_node where edition is null") == [(2,)]

    with_store(test)


def test_the_last_document_takes_the_folders_tree_with_it(with_store: Any) -> None:
    async def test(store: Any) -> None:
        ids = await three(store)
        await build(store, tree_builder(store))
        for one in ids:
            await store.removal.remove(await store.scope(), one)
        await build(store, tree_builder(store))
        assert await rows(store, "select count(*) from tree_node") == [(0,)]
        assert await tree_builder(store).unfinished() == 0

    with_store(test)


def test_the_old_tree_of_a_folder_is_searched_until_the_new_one_is_built(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await three(store)
        await build(store, tree_builder(store))
        await store.put("0.md", "The telescope points at a comet tonight.", folder="f")
        assert await rows(store, SHARED) == [(1,)]
        found = await texts_of(store, await tree_search(store, "dome bread cable"))
        assert set(found) == {B, C}  # the replaced passage gets no score
        await build(store, tree_builder(store))
        [(text,)] = await rows(store, "select text from tree_node where edition is null")
        assert "comet" in text
        assert "dome" not in text

    with_store(test)


def test_a_document_that_is_shared_leaves_the_tree_of_those_who_may_not_read_it(with_store: Any) -> None:
    async def test(store: Any) -> None:
        ids = await three(store)
        await Users(store.database).add("local", "bob", "reader")
        permissions = Permissions(store.database)
        for one in ids:
            await permissions.share(await store.scope(), one, ("user:bob",))
        await permissions.finish_moves()
        await build(store, tree_builder(store))
        bob = await store.library.scope("bob")
        assert {A, B, C} == set(await texts_of(store, await tree_search(store, "dome", bob)))
        await permissions.share(await store.scope(), ids[0], ())
        bob = await store.library.scope("bob")
        assert A not in await texts_of(store, await tree_search(store, "dome", bob))
        assert await rows(store, "select count(*) from tree_node where text like '%dome%'", "bob") == [(0,)]
        await permissions.finish_moves()
        await build(store, tree_builder(store))
        assert {B, C} == set(await texts_of(store, await tree_search(store, "bread", bob)))

    with_store(test)


@pytest.mark.parametrize("step", ["_insert", "document_tree", "folder_tree", "node_rows"])
def test_a_build_that_is_cut_off_leaves_nothing_and_is_done_again(
    with_store: Any, step: str, monkeypatch: pytest.MonkeyPatch, database_url: str
) -> None:
    async def test(store: Any) -> None:
        await three(store)
        place = tree_rows if step == "_insert" else tree
        with monkeypatch.context() as broken:

            def killed(*_: object, **__: object) -> None:
                raise asyncio.CancelledError  # as when the process stops

            broken.setattr(place, step, killed)
            with suppress(asyncio.CancelledError):
                await build(store, tree_builder(store))
        if step != "folder_tree":
            assert await rows(store, "select count(*) from tree_node") == [(0,)]
            assert await tree_search(store, "dome") == []
        assert await rows(store, SHARED) == [(0,)]
        with psycopg.connect(database_url) as admin:
            admin.execute("update pincite.engine_edition set lease_until = now() - interval '1 second'")
        await build(store, tree_builder(store))
        assert (await rows(store, OWN), await rows(store, SHARED)) == ([(3,)], [(1,)])

    with_store(test)


def test_a_folder_that_changes_while_its_tree_is_built_is_built_again(with_store: Any) -> None:
    async def test(store: Any) -> None:
        ids = await three(store)
        builder, trees = tree_builder(store), tree_rows.TreeStore(store.database)
        await build(store, builder)
        await store.put("3.md", "The radio speaks of a storm.", folder="f")
        await build(store, builder)
        [stale] = [tree_rows.StaleFolder("local", 1, "f", "the digest of other documents")]
        assert await trees.publish_folder(stale, builder.signature, [], 1) is False
        assert await rows(store, SHARED) == [(1,)]
        assert len(ids) == 3

    with_store(test)
