"""Evidence and what it lacks."""

import asyncio
from collections.abc import Callable

from pincite.core.run import Run
from pincite.query.refine import MOST, refine
from tests.builders import hit, plan


def test_evidence_says_which_words_it_lacks(make_run: Callable[..., Run]) -> None:
    evidence = asyncio.run(refine(make_run(), plan("Do cats purr in Patagonia?"), [hit("Cats purr.")]))
    assert evidence.missing == ("Patagonia",)
    assert 0.6 < evidence.coverage < 0.7


def test_no_hits_are_no_evidence(make_run: Callable[..., Run]) -> None:
    evidence = asyncio.run(refine(make_run(), plan("cats"), []))
    assert evidence.hits == ()
    assert evidence.coverage == 0.0


def test_no_answer_stands_on_more_than_so_many(make_run: Callable[..., Run]) -> None:
    hits = [hit(f"cat {key}", key=key) for key in range(MOST + 5)]
    assert list(asyncio.run(refine(make_run(), plan("cats"), hits)).hits) == hits[:MOST]
