"""A set asked with several configurations, in libraries made for the occasion."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from pincite.config.settings import Settings
from pincite.core.documents.document import Progress
from pincite.evaluate.compare import Comparison, compare, corpus_of
from pincite.evaluate.questions.datasets import load_set
from pincite.evaluate.variants import read_variants

from .makers import write_set

BASE = Settings.model_validate(
    {
        "embedding": {"provider": "scripted"},
        "ingest": {"workers": 1},
        "database": {"url": "postgresql://nobody@127.0.0.1:1/never"},
    }
)
"""A configured database that a set must never get into: this one does not even exist."""


def compared(folder: Path, texts: Sequence[str], keep: Path | None) -> tuple[Comparison, list[Progress]]:
    heard: list[Progress] = []
    variants = read_variants(texts, BASE, {"rag.use_hybrid_search": True})
    return asyncio.run(compare(load_set(folder), variants, keep=keep, report=heard.append)), heard


def test_documents_become_markdown_files_under_their_numbers(tmp_path: Path) -> None:
    corpus = corpus_of(load_set(write_set(tmp_path / "tiny")))
    assert list(corpus.files) == ["0.md", "1.md", "2.md"]
    assert corpus.files["0.md"].startswith("# The cat\n\nParallax")
    assert corpus.files["2.md"].startswith("Diesel")


@pytest.mark.slow
def test_a_set_is_indexed_once_for_what_is_query_time_and_again_for_what_is_not(tmp_path: Path) -> None:
    folder, keep = write_set(tmp_path / "tiny"), tmp_path / "keep"
    texts = ["rag.alpha=0", "rag.alpha=.2", "chunking.size=30,rag.alpha=0", "guard.max_query_chars=20"]
    result, heard = compared(folder, texts, keep)
    words, _, smaller, refusing = result.trials
    assert (result.name, result.documents, result.questions) == ("tiny", 3, 3)
    assert words.scores["nDCG@10"] == (1.0, 1.0, 1.0)
    assert smaller.scores["recall@5"] == (1.0, 1.0, 1.0)
    assert sum(refusing.scores["recall@100"]) == 1.0  # the other two are longer than that
    assert "questions refused: query_too_long (2 times)" in refusing.notes
    assert words.p95_ms >= words.p50_ms > 0
    assert len(list(keep.iterdir())) == 2
    assert {step.stage for step in heard} == {"taking in", "indexing", "asking"}
    again, heard = compared(folder, ["rag.alpha=0", "rag.alpha=.2"], keep)
    assert {step.stage for step in heard} == {"asking"}
    assert again.trials[0].scores == words.scores
