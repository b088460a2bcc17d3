import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from pincite.core.query.question import Question
from pincite.core.run import Run
from pincite.providers.scripted import Options, ScriptedEmbedder
from pincite.query.retrieve.retrieve import retrieval
from pincite.query.understand.analysis import query_analysis

TEXTS = {1: "one", 2: "two", 3: "three", 4: "four"}
DENSE = {1: 0.9, 2: 0.5, 3: 0.1}
LEXICAL = {2: 8.0, 4: 4.0, 1: 0.0}
ASKED = Question("q")


def hits(run: Run, question: Question = ASKED) -> dict[int, float]:
    async def go() -> dict[int, float]:
        plan = await query_analysis(run, question)
        return {hit.chunk.key: round(hit.score, 6) for hit in await retrieval(run, plan)}

    return asyncio.run(go())


def test_relative_score_adds_shares_by_weight(make_run: Callable[..., Run]) -> None:
    found = hits(make_run(TEXTS, DENSE, LEXICAL, rag__alpha=0.5, rag__relative_to="found"))
    assert found == {2: 0.75, 1: 0.5, 4: 0.25, 3: 0.0}
    assert list(found) == [2, 1, 4, 3]


def test_the_caller_may_weigh_otherwise(make_run: Callable[..., Run]) -> None:
    found = hits(make_run(TEXTS, DENSE, LEXICAL), Question("q", alpha=1.0))
    assert found[1] == 0.9
    assert found[4] == 0.0


def test_reciprocal_rank(make_run: Callable[..., Run]) -> None:
    found = hits(make_run(TEXTS, DENSE, LEXICAL, rag__fusion="rrf", rag__rrf_k=30))
    assert found[2] == round(1 / 32 + 1 / 31, 6)
    assert found[3] == round(1 / 33, 6)


def test_several_queries_are_joined_by_rank(make_run: Callable[..., Run]) -> None:
    found = hits(make_run(TEXTS, DENSE, LEXICAL, rag__relative_to="found"), Question("q", also=("r",)))
    assert found[2] == round(2 / 61, 6)
    assert found[1] == round(2 / 62, 6)


def test_every_score_can_be_recomputed_from_its_placings(make_run: Callable[..., Run]) -> None:
    run = make_run(TEXTS, DENSE, LEXICAL)

    async def go() -> list[Any]:
        return await retrieval(run, await query_analysis(run, Question("q")))

    for hit in asyncio.run(go()):
        assert hit.score == pytest.approx(sum(place.share for place in hit.placings))
        assert hit.hybrid_score == hit.score


@pytest.mark.parametrize(("strategy", "calls"), [("dense_only", {"dense"}), ("lexical_only", {"lexical"})])
def test_one_engine_alone(make_run: Callable[..., Run], strategy: Any, calls: set[str]) -> None:
    run = make_run(TEXTS, DENSE, LEXICAL)
    hits(run, Question("q", strategy=strategy))
    assert set(run.kit.index.calls) == calls  # type: ignore[attr-defined]


@pytest.mark.parametrize("strategy", ["hybrid", "dense_only"])
def test_without_an_embedder_words_are_searched_and_it_is_said(make_run: Callable[..., Run], strategy: Any) -> None:
    run = make_run(TEXTS, DENSE, LEXICAL, embedder=ScriptedEmbedder(Options(fail="it is down")))
    assert list(hits(run, Question("q", strategy=strategy))) == [2, 4, 1]
    assert [(note.stage, "it is down" in note.reason) for note in run.degraded] == [("query_embedding", True)]


@pytest.mark.parametrize(("strategy", "found"), [("hybrid", [2, 4, 1]), ("dense_only", [2, 4, 1])])
def test_documents_of_another_model_are_found_by_words_and_it_is_said(
    make_run: Callable[..., Run], strategy: Any, found: list[int]
) -> None:
    run = make_run(TEXTS, {}, LEXICAL)
    run.kit.index.strangers = 2  # type: ignore[attr-defined]
    assert list(hits(run, Question("q", strategy=strategy))) == found
    assert [(note.stage, "2 documents" in note.reason) for note in run.degraded] == [("vectors", True)]


def test_a_document_replaced_meanwhile_is_searched_again(make_run: Callable[..., Run]) -> None:
    run = make_run(TEXTS, DENSE, LEXICAL)
    run.kit.index.vanish = {2}  # type: ignore[attr-defined]
    assert set(hits(run)) == {1, 3, 4}
    assert run.kit.index.calls.count("dense") == 2  # type: ignore[attr-defined]


def test_nothing_to_find(make_run: Callable[..., Run]) -> None:
    assert hits(make_run()) == {}


def test_equal_scores_are_all_best(make_run: Callable[..., Run]) -> None:
    assert hits(make_run(TEXTS, {1: 0.5, 2: 0.5}, {}, rag__relative_to="found")) == {1: 0.5, 2: 0.5}


def test_scores_mean_the_same_however_few_were_brought(make_run: Callable[..., Run]) -> None:
    engines = {1: 0.9, 2: 0.5, 3: 0.1}, {2: 0.8, 4: 0.4}
    all_of_them = hits(make_run(TEXTS, *engines))
    two_of_each = hits(make_run(TEXTS, *engines, rag__candidates=2), Question("q", top_k=2))
    assert all_of_them == {2: 0.65, 1: 0.45, 4: 0.2, 3: 0.05}
    assert two_of_each == {2: 0.65, 1: 0.65, 4: 0.45}


def test_a_guess_adds_less_than_the_question_itself_does(make_run: Callable[..., Run]) -> None:
    plain = hits(make_run(TEXTS, DENSE, LEXICAL))
    both = hits(make_run(TEXTS, DENSE, LEXICAL), Question("q", standalone="r", guessed=True))
    assert both == {key: round(1.3 * score, 6) for key, score in plain.items()}


def test_passages_are_compared_with_the_guess_and_not_with_what_was_asked(make_run: Callable[..., Run]) -> None:
    run = make_run(TEXTS, DENSE, LEXICAL)
    fetch, seen = run.kit.index.fetch, list[int]()

    async def watched(keys: Any, vectors: Any, **more: Any) -> Any:
        seen.append(len(vectors))
        return await fetch(keys, vectors, **more)

    run.kit.index.fetch = watched  # type: ignore[method-assign]
    hits(run, Question("q", standalone="r", guessed=True))
    assert seen == [1]
