import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pincite.core.accounts.access import Scope
from pincite.core.query.question import Question
from pincite.store.search.parents import MOST

LONG = "\n\n".join(f"Paragraph {n} tells of ordinary things and of nothing else at all." for n in range(400))
TEXT = f"""# Harbour

The harbour opens at six.

## Fees

A boat pays ten marks a night.

## History

{LONG}

The lighthouse keeper was called Wenzel.
"""


@pytest.fixture
def searched(open_pincite: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """Adds the document and runs a search on it; gives the hits and the document's text."""
    (tmp_path / "harbour.md").write_text(TEXT, encoding="utf-8")

    def search(question: Question) -> Any:
        async def go() -> Any:
            async with open_pincite(chunking__size=100, chunking__overlap=10) as pincite:
                await pincite.add(tmp_path / "harbour.md")
                found = (await pincite.search(question)).hits
                nobody = await pincite.services.tools.index(pincite.settings.rag).parents(
                    [hit.chunk.key for hit in found], 1, scope=Scope("stranger", ())
                )
                return found, nobody

        return asyncio.run(go())

    return search


def test_sections_come_whole_with_their_own_offsets(searched: Callable[..., Any]) -> None:
    hits, nobody = searched(Question("What does a boat pay a night?", levels=(1,), top_k=3))
    assert {hit.chunk.level for hit in hits} == {1}
    fees = next(hit.chunk for hit in hits if hit.chunk.heading_path[-1] == "Fees")
    assert fees.text.startswith("## Fees")
    assert "ten marks" in fees.text
    assert TEXT[fees.start_char : fees.end_char] == fees.text
    assert TEXT.splitlines()[fees.start_line - 1] == "## Fees"
    assert fees.end_line == fees.start_line + fees.text.count("\n")
    assert len({hit.chunk.id for hit in hits}) == len(hits)
    assert nobody == {}


def test_of_a_long_document_as_much_as_is_useful_is_given_around_its_best_passage(searched: Callable[..., Any]) -> None:
    hits, _ = searched(Question("Who was the lighthouse keeper called?", levels=(0,)))
    [document] = [hit.chunk for hit in hits]
    assert document.level == 0
    assert "Wenzel" in document.text
    assert len(document.text) <= MOST < len(TEXT)
    assert TEXT[document.start_char : document.end_char] == document.text
    lines = TEXT.splitlines()
    assert document.text.splitlines() == lines[document.start_line - 1 : document.end_line]


def test_levels_can_be_mixed(searched: Callable[..., Any]) -> None:
    hits, _ = searched(Question("What does a boat pay a night?", levels=(0, 1, 2), top_k=30))
    assert {hit.chunk.level for hit in hits} == {0, 1, 2}
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
