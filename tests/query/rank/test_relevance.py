from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import pytest

from pincite.core.run import Run
from pincite.models.calibration import LEXICAL_ONLY, MINILM
from pincite.query.rank.relevance import chunk_terms, coverage, relevance, scaled_similarity
from tests.builders import found, hit


def test_more_of_the_questions_words_make_a_passage_more_relevant() -> None:
    little, much = found("Cats sleep."), found("Cats purr when they are content.")
    assert relevance(["why do cats purr"], much, 0.5, MINILM) > relevance(["why do cats purr"], little, 0.5, MINILM)


def test_a_nearer_passage_is_more_relevant() -> None:
    passage = found("Cats purr.")
    assert relevance(["cats"], passage, 0.8, MINILM) > relevance(["cats"], passage, 0.2, MINILM)
    assert 0 <= relevance(["cats"], passage, 0.5, LEXICAL_ONLY) <= 1


def test_title_and_headings_count_as_held() -> None:
    passage = found("30 days.", title="Leave", heading_path=("Rules", "Carry-over"))
    assert coverage("leave carry", chunk_terms(passage), "en") == 1.0


@pytest.mark.parametrize("asked", ["What was the revenue in 2022?", "What was the revenue in FY2022?"])
def test_a_number_is_held_in_another_spelling(asked: str) -> None:
    [other, same] = [found(f"The revenue in {year} was high.") for year in ("FY21", "FY22")]
    assert relevance([asked], same, 0.3, MINILM) > relevance([asked], other, 0.3, MINILM)


def test_a_question_without_words_is_covered_by_nothing() -> None:
    assert coverage("?!", frozenset({"a"}), "en") == 0.0


def test_by_words_alone_the_cosine_counts_for_nothing() -> None:
    passage = found("Cats purr.")
    assert relevance(["cats"], passage, 0.9, LEXICAL_ONLY) == relevance(["cats"], passage, -0.9, LEXICAL_ONLY)


@pytest.mark.parametrize(
    ("embedder", "cosine", "scaled"),
    [
        ("minilm-l6-v2/int8", 0.4, 0.4),
        ("pincite-embed/int8", 0.723, 0.076),  # unrelated texts
        ("pincite-embed/int8", 0.922, 0.672),  # related texts
        ("pincite-embed/int8", 0.8225, 0.374),
        ("unknown", 0.4, 0.4),
    ],
)
def test_cosines_are_compared_on_one_scale(
    make_run: Callable[..., Run], embedder: str, cosine: float, scaled: float
) -> None:
    run = make_run()
    run.kit = replace(run.kit, embedder=SimpleNamespace(name=embedder))  # type: ignore[arg-type]
    assert scaled_similarity(run, replace(hit("cats"), similarity=cosine)) == pytest.approx(scaled, abs=1e-9)
