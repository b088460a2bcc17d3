import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from pincite.core.query.hits import Hit
from pincite.core.query.question import Question
from pincite.core.run import Run
from pincite.query.retrieve.retrieve import retrieval
from pincite.query.retrieve.title_links import bare_title, names_in
from pincite.query.understand.analysis import query_analysis

TEXTS = {1: "Vertigo was directed by Alfred Hitchcock.", 2: "Films are long.", 3: "He was born in Leytonstone."}
DENSE = {1: 0.9, 2: 0.5, 3: 0.1}
TITLES = {"Alfred Hitchcock": 3}


def hits(run: Run, text: str = "Who made it?", titles: Mapping[str, int] = TITLES, **more: Any) -> list[Hit]:
    index: Any = run.kit.index
    index.titles = dict(titles)

    async def go() -> list[Hit]:
        return await retrieval(run, await query_analysis(run, Question(text, **more)))

    return asyncio.run(go())


def keys(found: list[Hit]) -> list[int]:
    return [hit.chunk.key for hit in found]


def test_what_the_best_passage_names_moves_up(make_run: Callable[..., Run]) -> None:
    found = hits(make_run(TEXTS, DENSE, {}, rag__follow_titles=0.5))
    assert keys(found) == [1, 3, 2]
    assert found[1].score == pytest.approx(0.5 * 0.1 + 0.5 * 0.45)
    named = found[1].placings[-1]
    assert (named.via, named.rank, named.raw) == ("named", 1, 0.45)


def test_every_score_is_still_the_sum_of_its_shares(make_run: Callable[..., Run]) -> None:
    for hit in hits(make_run(TEXTS, DENSE, {1: 0.5, 2: 0.4})):
        assert hit.hybrid_score == hit.score == pytest.approx(sum(placing.share for placing in hit.placings))


def test_what_the_question_names_moves_up(make_run: Callable[..., Run]) -> None:
    found = hits(make_run({1: "one", 2: "two"}, {1: 0.5, 2: 0.45}, {}), "And Vertigo?", {"Vertigo": 2})
    assert keys(found) == [2, 1]
    assert found[0].placings[-1].rank is None
    assert found[0].placings[-1].share == pytest.approx(0.1)


def test_a_mentioned_document_without_hits_is_fetched(make_run: Callable[..., Run]) -> None:
    run = make_run(TEXTS, DENSE, {}, rag__candidates=2, rag__follow_titles=0.5)
    assert keys(hits(run, top_k=2)) == [1, 3, 2]


@pytest.mark.parametrize("more", [{"strategy": "dense_only"}, {"strategy": "lexical_only"}, {"also": ("more",)}])
def test_title_links_need_one_question_and_both_engines(make_run: Callable[..., Run], more: Any) -> None:
    run = make_run(TEXTS, DENSE, {1: 0.5})
    hits(run, **more)
    assert "titled" not in run.kit.index.calls  # type: ignore[attr-defined]


def test_following_can_be_switched_off(make_run: Callable[..., Run]) -> None:
    run = make_run(TEXTS, DENSE, {}, rag__follow_titles=0)
    assert keys(hits(run)) == [1, 2, 3]
    assert "titled" not in run.kit.index.calls  # type: ignore[attr-defined]


def test_a_passage_does_not_name_its_own_document(make_run: Callable[..., Run]) -> None:
    run = make_run(TEXTS, DENSE, {})
    chunks = run.kit.index.chunks  # type: ignore[attr-defined]
    chunks[1] = replace(chunks[1], title="Alfred Hitchcock (director)")
    assert keys(hits(run)) == [1, 2, 3]


@pytest.mark.parametrize("settings", [{"rag__fusion": "rrf"}, {"rag__relative_to": "found"}])
def test_names_are_followed_however_rankings_are_joined(make_run: Callable[..., Run], settings: Any) -> None:
    found = hits(make_run(TEXTS, DENSE, {2: 0.1}, rag__follow_titles=1, rag__candidates=2, **settings))
    assert set(keys(found)) <= {1, 2, 3}
    assert next(hit for hit in found if hit.chunk.key == 3).placings[-1].via == "named"


def test_names_start_with_a_capital_or_a_digit() -> None:
    names = set(names_in("He met Anna Lee, of Bonn, in 1984. The end"))
    assert {"Anna", "Anna Lee", "Anna Lee, of Bonn", "Bonn", "1984", "The end"} <= names
    assert not names & {"He", "met", "The", "Lee", "of Bonn", "end"}
    assert "Lee, of Bonn" in names


def test_names_do_not_reach_across_a_gap() -> None:
    assert "Anna Lee" not in set(names_in("Anna  \n\n  Lee"))
    assert "Anna Lee" in set(names_in("Anna\nLee"))


def test_no_names_in_nothing() -> None:
    assert list(names_in("")) == list(names_in("… ☃ !!")) == list(names_in("it is what it is")) == []


@pytest.mark.parametrize(
    ("title", "name"), [("Green (album)", "Green"), ("f(x) = 1", "f(x) = 1"), ("Green", "Green"), ("(all)", "")]
)
def test_a_bare_title_has_no_final_brackets(title: str, name: str) -> None:
    assert bare_title(title) == name
