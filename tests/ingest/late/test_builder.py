"""Token vectors of the shipped model, built in the process of the bulk embedder and used by a search."""

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pincite.core.documents.document import Upload
from pincite.core.engines import BuildPassage
from pincite.core.query.question import Question
from pincite.ingest.late.builder import MAX_CENTROIDS, token_centroids, token_text

REAL = {"embedding__provider": "pincite_embed", "late__build": "on"}


def _passage(text: str, *headings: str) -> BuildPassage:
    return BuildPassage(1, 0, 0, text, headings, "prose", "en")


def test_a_passage_is_encoded_with_its_title_and_headings() -> None:
    assert token_text("Handbook", _passage("The dome.", "Handbook", "Dome")) == "Handbook > Dome\nThe dome."


@pytest.mark.parametrize(("tokens", "count"), [(3, 1), (40, 5), (500, MAX_CENTROIDS)])
def test_a_passage_has_few_centroids(tokens: int, count: int) -> None:
    assert token_centroids(np.random.default_rng(1).normal(size=(tokens, 16)).astype(np.float32)).shape == (count, 16)


def test_equal_tokens_have_one_centroid() -> None:
    assert token_centroids(np.ones((40, 4), np.float32)).shape == (1, 4)


def test_documents_are_built_and_ranked_by_their_tokens(open_pincite: Callable[..., Any]) -> None:
    async def go() -> None:
        async with open_pincite(**REAL, rag__late_interaction=True, late__search=True) as pincite:
            dome = Upload("dome.md", b"# Dome\n\nA hand crank closes the shutter of the dome.")
            bread = Upload("bread.md", b"# Bread\n\nThe kitchen bakes bread with fresh yeast.")
            ids = [(await pincite.documents.upload(one)).document.id for one in (dome, bread)]
            pincite.services.workers.start()
            await asyncio.wait_for(pincite.documents.wait(ids), 120)
            ended = await asyncio.wait_for(pincite.admin.wait_until_built(), 120)
            assert (ended["late"].built, ended["late"].failed) == (2, 0)
            result = await pincite.search(Question("Who closes the dome?"))
            assert result.degraded == ()
            late = [one for hit in result.hits for one in hit.placings if one.via == "late"]
            assert [one.rank for one in late] == [1, 2]
            assert late[0].raw > late[1].raw
            assert result.hits[0].chunk.document_name == "dome.md"

    asyncio.run(go())


def test_an_embedder_without_tokens_leaves_a_note(open_pincite: Callable[..., Any]) -> None:
    async def go() -> None:
        async with open_pincite(late__build="on") as pincite:
            [document] = [(await pincite.documents.upload(Upload("a.md", b"Some words."))).document]
            pincite.services.workers.start()
            await asyncio.wait_for(pincite.documents.wait([document.id]), 120)
            ended = await asyncio.wait_for(pincite.admin.wait_until_built(), 120)
            assert (ended["late"].built, ended["late"].failed) == (1, 1)
            [note] = (await pincite.get(document.id)).notes
            assert "set late.model to a folder" in note

    asyncio.run(go())
