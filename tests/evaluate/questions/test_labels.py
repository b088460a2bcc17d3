"""Questions of one's own, with the passages that answer them."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pincite.core.accounts.access import LOCAL
from pincite.errors import Invalid
from pincite.evaluate.questions.labels import mark_passages

HANDBOOK = Path(__file__).parents[3] / "examples" / "documents" / "station-handbook.md"


def test_a_marked_passage_is_a_place_in_its_document(open_pincite: Callable[..., Any]) -> None:
    async def main() -> None:
        async with open_pincite() as pincite:
            await pincite.add(HANDBOOK)
            hits = (await pincite.search("telescope")).hits[:2]
            scope = await pincite.scope()
            empty = await pincite.services.evaluations.keep_set(scope, "hand", 0, [])
            ids = [hit.chunk.id for hit in hits]
            [kept] = (
                await mark_passages(pincite, empty.id, "Which  telescope?", [*ids, ids[0]], caller=LOCAL)
            ).questions
            assert (kept.text, kept.kind, kept.current, len(kept.twins)) == ("Which telescope?", "marked", True, 1)
            text = (await pincite.services.library.text(scope, kept.place.document_id)).text
            assert text[kept.place.start : kept.place.end] == hits[0].chunk.text
            with pytest.raises(Invalid, match="not the id of a passage"):
                await mark_passages(pincite, empty.id, "x", ["x.y.-1"], caller=LOCAL)

    asyncio.run(main())
