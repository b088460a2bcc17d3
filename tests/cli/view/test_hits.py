"""Search results and explained scores in a terminal."""

from dataclasses import replace

import pytest

from pincite.cli.view.hits import MAX_SNIPPET_CHARS, make_snippet, print_explained, print_hits
from pincite.core.query.answer import Degraded
from pincite.core.query.hits import Adjustment, Scale, ScoreContribution
from tests.builders import fusion, plan

from .makers import hit, result, seen


def test_hits_are_numbered_with_score_place_and_snippet() -> None:
    found = result(
        hit("Cats purr.", 0.9, heading_path=("Handbook", "Cats"), folder="zoo"), hit("Dogs bark.", 0.1, key=2)
    )
    assert (
        seen(lambda screen: print_hits(screen, found, "cats"))
        == """
  1  0.900  Handbook › Cats
            zoo/doc1.md, line 10
            Cats purr.

  2  0.100  Handbook
            doc2.md, line 10
            Dogs bark.
"""
    )


@pytest.mark.parametrize("width", [60, 120])
def test_nothing_is_wider_than_the_screen(width: int) -> None:
    found = result(hit("Cats purr. " * 50, 0.9, ScoreContribution("dense", 0, 1, 0.7, 0.5), heading_path=("H" * 90,)))
    told = seen(lambda screen: print_explained(screen, found, "cats"), width=width)
    assert max(map(len, told.splitlines())) <= width


def test_degraded_stages_are_printed() -> None:
    told = seen(lambda screen: print_hits(screen, result(degraded=(Degraded("query_embedding", "it is down"),)), "x"))
    assert told == "Nothing was found.\n\nLeft out    query_embedding: it is down\n"


def test_shares_can_be_worked_out_from_what_is_printed() -> None:
    words, meaning, named = Scale(0.5, 0.0, 16.0), Scale(0.5, 0.0, 1.0), Scale(0.2, 0.0, 1.0)
    found = result(
        hit(
            "a",
            0.75,
            ScoreContribution("dense", 0, 1, 0.9, 0.45, meaning),
            ScoreContribution("lexical", 0, 1, 9.6, 0.3, words),
        ),
        hit(
            "b",
            0.5,
            ScoreContribution("dense", 0, None, 0.7, 0.35, meaning),
            ScoreContribution("named", 0, 1, 0.75, 0.15, named),
            key=2,
        ),
    )
    told = seen(lambda screen: print_explained(screen, found, "x"), width=120)
    assert "share = weight × (raw − low) / span; the score is the sum of the shares" in told
    assert "words: weight 0.5, low 0.0000, span 16.0000" in told
    assert "meaning: weight 0.5, low 0.0000, span 1.0000" in told
    assert "named: weight 0.2, low 0.0000, span 1.0000" in told
    assert "rank –: not retrieved by this engine" in told
    assert "meaning      –     0.7000    0.3500" in told
    assert "score 0.3500 + 0.1500 = 0.5000" in told


def test_ranks_are_worked_out_by_their_constant() -> None:
    found = result(hit("a", 1 / 31, ScoreContribution("dense", 0, 1, 0.8, 1 / 31)))
    told = seen(lambda screen: print_explained(screen, replace(found, fusion=fusion(fusion="rrf", rrf_k=30)), "x"))
    assert "share = 1 / (30 + rank); the score is the sum of the shares" in told
    assert "weight" not in told


def test_reranked_and_unreranked_scores_are_distinguished() -> None:
    one = replace(hit("a", 0.7, ScoreContribution("dense", 0, 1, 0.8, 0.5)), hybrid_score=0.5, rerank_score=0.7)
    other = replace(hit("b", 0.7, ScoreContribution("dense", 0, 2, 0.6, 0.3), key=2), hybrid_score=0.3)
    told = seen(
        lambda screen: print_explained(screen, replace(result(one, other), fusion=fusion(reranker="cosine")), "x"),
        width=120,
    )
    assert "0.5000; replaced by the reranker's score: 0.7000" in told
    assert "0.3000; not reranked, therefore below the reranked ones: 0.7000" in told


def test_a_snippet_shows_the_words_that_were_looked_for() -> None:
    text = "filler " * 100 + "The key hangs behind the blue cup. " + "filler " * 100
    shown = make_snippet(text, (), "where is the blue cup?")
    assert "behind the blue cup" in shown
    assert len(shown) <= MAX_SNIPPET_CHARS
    assert (shown[0], shown[-1]) == ("…", "…")
    assert make_snippet(text, (), "").startswith("filler")
    assert make_snippet("end " * 100 + "needle", (), "needle").endswith("needle")


def test_a_snippet_leaves_out_the_heading_that_stands_above_it() -> None:
    assert make_snippet("## Power\n\nComes by cable.", ("Work", "Power")) == "Comes by cable."
    assert make_snippet("## Power\n\nComes by cable.", ("Work",)) == "## Power Comes by cable."


def test_penalties_and_diversification_are_explained_with_numbers() -> None:
    low = replace(
        hit("a", 0.35, ScoreContribution("dense", 0, 1, 0.8, 0.5), content_type="image_credits"),
        hybrid_score=0.5,
        adjustments=(Adjustment("penalty", 0.3, 0.5, 0.35),),
    )
    spread = Adjustment("mmr", 0.25, 0.35, 0.265, Scale(0.7, 0.1, 0.5))
    told = seen(lambda screen: print_explained(screen, result(low), "x"), width=120)
    assert "score 0.5000; less 0.3 of its size for image credits: 0.3500" in told
    both = replace(low, score=spread.score, adjustments=(*low.adjustments, spread))
    told = seen(lambda screen: print_explained(screen, result(both), "x"), width=200)
    assert "spread: 0.7 × (0.3500 − 0.1000) / 0.5000 − 0.3 × 0.2500 alike = 0.2650" in " ".join(told.split())


def test_a_hit_names_its_duplicates() -> None:
    twin = hit("a", 0.5, key=2, folder="old").chunk
    told = seen(lambda screen: print_hits(screen, result(replace(hit("a", 0.5), also_in=(twin,))), "x"))
    assert "also in old/doc2.md" in told


def test_contributions_of_several_texts_add_up() -> None:
    scale = Scale(0.5, 0.0, 1.0)
    placings = (
        ScoreContribution("dense", 0, 1, 0.8, 0.4, scale),
        ScoreContribution("dense", 1, 2, 0.6, 0.3, scale),
        ScoreContribution("query", 0, 1, 0.4, 1 / 61),
        ScoreContribution("query", 1, 2, 0.3, 1 / 62),
    )
    asked = replace(plan("a and b"), extra=("only b",))
    found = result(hit("a", 1 / 61 + 1 / 62, *placings), plan=asked)
    told = " ".join(seen(lambda screen: print_explained(screen, found, "x")).split())
    assert "share of a text = 1 / (60 + rank by the sum of meaning and words for it)" in told
    assert "text 2: only b" in told
    assert "meaning of text 2: weight 0.5" in told
    assert "score 0.0164 + 0.0161 = 0.0325" in told


def test_further_parts_have_their_own_weights() -> None:
    parts = [
        ScoreContribution("part", 0, n, 0.4, weight * 0.4, Scale(weight, 0.0, 1.0))
        for n, weight in ((2, 0.25), (3, 0.0625))
    ]
    found = result(hit("a", 0.925, ScoreContribution("dense", 0, 1, 0.8, 0.8, Scale(1.0, 0.0, 1.0)), *parts))
    told = seen(lambda screen: print_explained(screen, found, "x"), width=150)
    assert "part 2: weight 0.25" in told
    assert "part 3: weight 0.0625" in told
    assert "score 0.8000 + 0.1000 + 0.0250 = 0.9250" in told
