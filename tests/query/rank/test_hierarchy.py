import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from pincite.core.query.hits import Hit, summands
from pincite.core.run import Run
from pincite.query.rank.hierarchy import (
    FURTHER_PART_WEIGHT,
    PARENT_WEIGHT,
    combine_scores,
    drop_nested,
    level_promotion,
    parent_boost,
)
from tests.builders import hit, plan


def part(key: int, score: float, document: str, section: int = 1) -> Hit:
    return hit(f"Passage {key}.", key=key, score=score, document_id=document, parent=section, ordinal=key)


HITS = [part(1, 0.8, "a"), part(2, 0.6, "b"), part(3, 0.58, "b", 2), part(4, 0.5, "b")]


def test_a_parent_has_the_best_score_plus_a_part_of_the_next() -> None:
    assert combine_scores([0.5]) == 0.5
    assert combine_scores([0.2, 0.8, 0.4]) == pytest.approx(
        0.8 + FURTHER_PART_WEIGHT * 0.4 + FURTHER_PART_WEIGHT**2 * 0.2
    )
    assert combine_scores([0.8, 0.4, 0.2, 0.1]) == combine_scores([0.8, 0.4, 0.2])


def test_passages_gain_by_the_document_and_the_section_they_stand_in(make_run: Callable[..., Run]) -> None:
    found = asyncio.run(parent_boost(make_run(), plan("q"), HITS))
    for one in found:
        before = next(hit.score for hit in HITS if hit.chunk.key == one.chunk.key)
        section, document = one.placings
        assert (section.via, document.via) == ("section", "document")
        assert one.score == one.hybrid_score == pytest.approx(before + PARENT_WEIGHT * (section.raw + document.raw))
    assert found[0].placings[1].raw == 0.8  # a document of one passage has its score
    assert [one.chunk.key for one in found] == [1, 2, 3, 4]
    alone = [part(1, 0.60, "a"), part(2, 0.58, "b"), part(3, 0.57, "b"), part(4, 0.56, "b")]
    assert [one.chunk.key for one in asyncio.run(parent_boost(make_run(), plan("q"), alone))] == [2, 3, 4, 1]


@pytest.mark.parametrize(
    ("levels", "found"),
    [
        ((0,), [(0, 0.8), (0, combine_scores([0.6, 0.58, 0.5]))]),
        ((1,), [(1, 0.8), (1, combine_scores([0.6, 0.5])), (1, 0.58)]),
        ((1, 2), [(2, 0.8), (1, 0.8), (1, combine_scores([0.6, 0.5])), (2, 0.6), (2, 0.58), (1, 0.58), (2, 0.5)]),
    ],
)
def test_sections_and_documents_are_results_with_combined_scores(
    make_run: Callable[..., Run], levels: tuple[int, ...], found: list[tuple[int, float]]
) -> None:
    lifted = asyncio.run(level_promotion(make_run(), replace(plan("q"), levels=levels), HITS))
    assert sorted((one.chunk.level, round(one.score, 6)) for one in lifted) == sorted(
        (level, round(score, 6)) for level, score in found
    )
    assert [one.score for one in lifted] == sorted((one.score for one in lifted), reverse=True)
    assert len({one.chunk.key for one in lifted}) == len(lifted)


def test_a_parent_hit_lists_its_contributions(make_run: Callable[..., Run]) -> None:
    [_, b] = asyncio.run(level_promotion(make_run(), replace(plan("q"), levels=(0,)), HITS))
    assert [(place.via, place.rank, place.raw) for place in b.placings] == [("part", 2, 0.58), ("part", 3, 0.5)]
    assert b.score == pytest.approx(0.6 + sum(place.share for place in summands(b.placings)))
    assert b.score == pytest.approx(combine_scores([0.6, 0.58, 0.5]))


def test_a_document_replaced_meanwhile_is_left_out(make_run: Callable[..., Run]) -> None:
    run = make_run()
    run.kit.index.vanish = {1}  # type: ignore[attr-defined]
    assert [
        one.chunk.document_id for one in asyncio.run(level_promotion(run, replace(plan("q"), levels=(0,)), HITS))
    ] == ["doc2"]


def test_an_answer_uses_no_section_beside_the_passage_it_holds() -> None:
    def place(key: int, level: int, start: int, end: int, document: str = "a") -> Hit:
        return hit("x", key=key, level=level, start_char=start, end_char=end, document_id=document)

    passage, section, other = place(1, 2, 10, 20), place(2, 1, 0, 50), place(3, 2, 60, 70)
    elsewhere, whole = place(4, 1, 0, 50, "b"), place(5, 0, 0, 99)
    assert drop_nested([passage, section, other, elsewhere, whole]) == [passage, other, elsewhere]
    assert drop_nested([section, passage, other]) == [section, other]
    overlapping = [place(1, 2, 0, 50), place(2, 2, 10, 20)]
    assert drop_nested(overlapping) == overlapping
