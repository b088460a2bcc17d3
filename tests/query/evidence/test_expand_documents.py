"""Further passages of the best documents."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from pincite.core.query.hits import Hit
from pincite.core.run import Run
from pincite.query.citations.sources import sources_of
from pincite.query.evidence.expand_documents import document_expansion
from tests.builders import found, hit, plan
from tests.query.conftest import MemoryIndex

HIT = hit("cats purr", key=1, score=0.4, document_id="doc1")
NEAR = {1: 0.8, 2: 0.6, 3: 0.2, 4: 0.7, 5: 0.9}


def expanded(run: Run, hits: Sequence[Hit] = (HIT,)) -> list[Hit]:
    texts = {1: "cats purr", 2: "cats purr and sleep", 3: "stones lie", 4: "of another document", 5: "Cats?"}
    index = run.kit.index
    assert isinstance(index, MemoryIndex)
    index.rankings["dense"] = dict(NEAR)
    index.chunks = {
        key: found(text, key=key, document_id="doc1" if key != 4 else "doc4") for key, text in texts.items()
    }
    index.chunks[5] = replace(index.chunks[5], content_type="hypothetical_question")
    return asyncio.run(document_expansion(run, plan("cats purr"), hits))


def test_all_passages_of_the_documents_are_added_after_the_hits(make_run: Callable[..., Run]) -> None:
    hits = expanded(make_run(rag__threshold_on="similarity", rag__expansion__threshold=0.3))
    assert [one.chunk.key for one in hits] == [1, 2, 3]  # the nearest first; 3 has a cosine of .2
    assert hits[0] == HIT
    assert [one.similarity for one in hits[1:]] == [0.6, 0.2]
    assert hits[1].relevance > 0.5 > hits[2].relevance
    assert [(one.ranked, one.hybrid_score) for one in hits[1:]] == [(False, None)] * 2


@pytest.mark.parametrize("on", ["similarity", "relevance"])
def test_only_documents_whose_best_hit_passes_the_threshold_are_expanded(make_run: Callable[..., Run], on: str) -> None:
    fits = replace(HIT, similarity=0.3, relevance=0.3)
    fails = replace(HIT, **{"similarity": 0.3, "relevance": 0.3, on: 0.29})
    run = make_run(rag__threshold_on=on, rag__expansion__threshold=0.3)
    assert len(expanded(run, [fits])) == 3
    assert expanded(run, [fails]) == [fails]


def test_a_source_that_was_added_has_no_scores_that_nobody_computed(make_run: Callable[..., Run]) -> None:
    found, added, _ = sources_of(expanded(make_run()), frozenset())
    assert (found.score, found.hybrid_score) == (0.4, HIT.hybrid_score)
    assert (added.score, added.hybrid_score, added.similarity_score) == (None, None, 0.6)


def test_only_the_best_documents_are_looked_into(make_run: Callable[..., Run]) -> None:
    first = hit("birds", key=9, document_id="doc9")
    hits = expanded(make_run(rag__expansion__max_documents=1), [first, HIT])
    assert [one.chunk.key for one in hits] == [9, 1]


def test_no_hits_are_not_expanded(make_run: Callable[..., Run]) -> None:
    run = make_run()
    assert expanded(run, []) == []
    assert run.kit.index.calls == []  # type: ignore[attr-defined]
