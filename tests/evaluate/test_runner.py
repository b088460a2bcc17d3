"""Asking question after question."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pincite.config.settings import Settings
from pincite.config.sources import with_values
from pincite.core.documents.document import Progress
from pincite.evaluate.runner import Response, ask_all, count_notes, percentile, search_depth


def test_questions_are_asked_in_order_with_the_settings_given(open_pincite: Callable[..., Any], tmp_path: Path) -> None:
    for name in ("cats", "dogs"):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\nAbout {name} and nothing else.\n", encoding="utf-8")
    heard: list[Progress] = []

    async def main() -> tuple[list[Response], list[str]]:
        async with open_pincite() as pincite:
            for name in ("cats", "dogs"):
                await pincite.add(tmp_path / f"{name}.md")
            settings = with_values(pincite.settings, {"rag.alpha": 0, "guard.max_query_chars": 10})
            texts = ["dogs", "cats", "much too long to ask"]
            found = [one async for one in ask_all(pincite, texts, settings, report=heard.append)]
            from pincite.core.traces import TraceFilter

            traces, _ = await pincite.services.traces.list(await pincite.scope(), TraceFilter(limit=100))
            return found, [trace.kind for trace in traces]

    (dogs, cats, refused), kinds = asyncio.run(main())
    assert dogs.hits[0].chunk.document_name == "dogs.md"
    assert cats.hits[0].chunk.document_name == "cats.md"
    assert (refused.hits, refused.notes) == ((), ("questions refused: query_too_long",))
    assert all(one.ms > 0 for one in (dogs, cats, refused))
    assert [(step.done, step.total, step.of) for step in heard] == [(n, 3, "question") for n in (1, 2, 3)]
    assert set(kinds) <= {"evaluation", "ingest"}  # nobody takes these for searches of people


@pytest.mark.parametrize(
    ("candidates", "top_k", "expected"), [(100, 10, 100), (20, 5, 20), (5, 10, 10), (1000, 10, 100)]
)
def test_the_search_depth_is_limited_to_the_candidates(candidates: int, top_k: int, expected: int) -> None:
    assert search_depth(with_values(Settings(), {"rag.candidates": candidates, "rag.top_k": top_k})) == expected


def test_notes_are_deduplicated_with_their_count() -> None:
    assert count_notes(["a", "b", "a"]) == ("a (2 times)", "b")


def test_percentiles_are_values_that_occurred() -> None:
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([1.0], 0.95) == 1.0
    assert percentile([], 0.5) == 0.0
    assert percentile([float(n) for n in range(100)], 0.95) == 95.0
