"""The summary tree from a door: built in the background, searched, never cited, removed with its documents."""

import asyncio
from collections.abc import Callable
from typing import Any

from pincite.core.accounts.access import LOCAL
from pincite.core.documents.document import Upload
from pincite.core.query.question import Filters, Question

TEXTS = {
    "dome.md": b"# Dome\n\nA hand crank closes the shutter of the dome in heavy snow.",
    "crank.md": b"# Crank\n\nThe second crank hangs at the gallery of the dome since May.",
    "bread.md": b"# Bread\n\nThe kitchen bakes bread with fresh yeast every second day.",
}


async def filled(pincite: Any) -> list[str]:
    ids = [(await pincite.documents.upload(Upload(name, text))).document.id for name, text in TEXTS.items()]
    pincite.services.workers.start()
    await asyncio.wait_for(pincite.documents.wait(ids), 120)
    return ids


def test_the_tree_adds_a_contribution_and_is_never_cited(open_pincite: Callable[..., Any]) -> None:
    async def go() -> None:
        async with open_pincite(tree__build="rules", rag__tree=True) as pincite:
            await filled(pincite)
            ended = await asyncio.wait_for(pincite.admin.wait_until_built(), 120)
            assert (ended["tree"].built, ended["tree"].failed) == (3, 0)
            result = await pincite.search(Question("Which documents are about the dome?"))
            assert {one.via for one in result.hits[0].placings} >= {"dense", "tree"}
            answer = await pincite.ask(Question("Summarise what is known about the dome crank."))
            texts = {name: " ".join(text.decode().split()) for name, text in TEXTS.items()}
            assert answer.sources
            for source in answer.sources:
                assert source.snippet.strip("… \n") in texts[source.document_name]

    asyncio.run(go())


def test_an_engine_without_data_is_named_and_reindex_builds_it(open_pincite: Callable[..., Any]) -> None:
    async def go() -> None:
        async with open_pincite(rag__tree=True) as pincite:
            await filled(pincite)
            result = await pincite.search(Question("dome"))
            assert [(note.stage, "pincite reindex --tree" in note.reason) for note in result.degraded] == [
                ("tree", True)
            ]
            await pincite.admin.settings.set({"tree.build": "rules"}, LOCAL)
            assert await pincite.admin.build("tree") == 3
            await asyncio.wait_for(pincite.admin.wait_until_built(), 120)
            assert (await pincite.search(Question("dome"))).degraded == ()

    asyncio.run(go())


def test_the_strategy_fusion_uses_a_tree_that_is_built(open_pincite: Callable[..., Any]) -> None:
    async def go() -> None:
        async with open_pincite(tree__build="rules") as pincite:
            ids = await filled(pincite)
            await asyncio.wait_for(pincite.admin.wait_until_built(), 120)
            plain = await pincite.search(Question("dome", strategy="hybrid"))
            fused = await pincite.search(Question("dome", strategy="fusion"))
            assert "tree" not in {one.via for hit in plain.hits for one in hit.placings}
            assert "tree" in {one.via for hit in fused.hits for one in hit.placings}
            one = Filters(document_ids=(ids[2],))
            filtered = await pincite.search(Question("dome", strategy="fusion", filters=one))
            assert {hit.chunk.document_name for hit in filtered.hits} == {"bread.md"}

    asyncio.run(go())
