"""The relevance filter."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from pincite.core.query.hits import Hit, ScoreContribution
from pincite.core.run import Run
from pincite.query.evidence.relevance_filter import MIN_RELEVANCE, MIN_SHARE_OF_BEST, relevance_filter
from tests.builders import hit, plan


def kept(run: Run, hits: Sequence[Hit]) -> list[int]:
    return [found.chunk.key for found in asyncio.run(relevance_filter(run, plan("why do cats purr"), hits))]


def test_weak_passages_are_dropped(make_run: Callable[..., Run]) -> None:
    hits = [hit("cats purr", key=1), hit("cats sleep", key=2, relevance=0.09)]
    assert kept(make_run(rag__similarity_threshold=0.1), hits) == [1]


def test_the_threshold_reads_what_the_settings_say(make_run: Callable[..., Run]) -> None:
    hits = [
        replace(hit("cats purr", key=1, relevance=0.9), similarity=0.1),
        replace(hit("dogs", key=2, relevance=0.1), similarity=0.9),
    ]
    by_relevance = make_run(**{"rag.similarity_threshold": 0.5})
    by_cosine = make_run(**{"rag.similarity_threshold": 0.5, "rag.threshold_on": "similarity"})
    assert (kept(by_relevance, hits), kept(by_cosine, hits)) == ([1], [2])
    by_cosine.degrade("vectors", "some are of another model")  # and then there is no cosine to go by
    assert kept(by_cosine, hits) == [1]


def test_verification_removes_what_is_far_behind_the_best_and_can_be_switched_off(make_run: Callable[..., Run]) -> None:
    hits = [hit("cats", key=1, relevance=0.9), hit("dogs", key=2, relevance=0.9 * MIN_SHARE_OF_BEST - 0.001)]
    assert kept(make_run(), hits) == [1]
    assert kept(make_run(rag__verification_enabled=False), hits) == [1, 2]


def test_verification_removes_what_is_near_by_cosine_alone(make_run: Callable[..., Run]) -> None:
    near = replace(hit("dogs", key=2, relevance=MIN_RELEVANCE / 2), similarity=0.9)
    settings = {"rag.threshold_on": "similarity", "rag.similarity_threshold": 0.4}
    assert kept(make_run(**settings), [near]) == []
    assert kept(make_run(**settings, rag__verification_enabled=False), [near]) == [2]


def test_what_was_found_by_its_name_goes_with_what_is_relevant_and_never_alone(make_run: Callable[..., Run]) -> None:
    named = replace(hit("the director", key=2, relevance=0.001), placings=(ScoreContribution("named", 0, 1, 0.5, 0.1),))
    assert kept(make_run(), [hit("the film", key=1), named]) == [1, 2]
    assert kept(make_run(), [named]) == []


def test_where_nothing_is_left_that_is_said(make_run: Callable[..., Run]) -> None:
    run = make_run()
    assert kept(run, [hit("dogs", relevance=0.001)]) == []
    assert run.warnings == ["1 passage was found, but none is relevant enough for an answer"]
    quiet = make_run()
    assert kept(quiet, []) == []
    assert quiet.warnings == []


def test_an_extractive_answer_keeps_the_first_passages_of_the_search(make_run: Callable[..., Run]) -> None:
    weak = MIN_RELEVANCE / 100
    hits = [hit("cats", key=1, relevance=weak), hit("dogs", key=2), *(hit("x", key=n, relevance=weak) for n in (3, 4))]
    run = make_run()
    assert kept(run, hits) == [2]
    run.kit = replace(run.kit, llm=run.kit.extractive)
    assert kept(run, hits) == [1, 2, 3]
    assert kept(run, hits[2:]) == []  # where no passage is relevant, the place alone says nothing
