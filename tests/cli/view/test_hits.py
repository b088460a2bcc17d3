"""Search results and how their scores came about."""

import pytest

from pincite.cli.view.hits import SNIPPET, print_explained, print_hits, snippet
from pincite.core.answers import Degraded, Placing
from pincite.settings import Rag

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
    found = result(hit("Cats purr. " * 50, 0.9, Placing("dense", 0, 1, 0.7, 0.5), heading_path=("H" * 90,)))
    told = seen(lambda screen: print_explained(screen, found, "cats", Rag()), width=width)
    assert max(map(len, told.splitlines())) <= width


def test_what_was_missing_is_said() -> None:
    told = seen(lambda screen: print_hits(screen, result(degraded=(Degraded("embedding", "it is down"),)), "x"))
    assert told == "Nothing was found.\n\nLeft out    embedding: it is down\n"


def test_a_single_engine_weighs_all_when_the_other_was_missing() -> None:
    placings = [Placing("lexical", 0, 1, 8.0, 1.0), Placing("lexical", 0, 2, 5.0, 0.5)]
    found = result(
        hit("a", 1.0, placings[0]), hit("b", 0.5, placings[1]), degraded=(Degraded("embedding", "it is down"),)
    )
    told = seen(lambda screen: print_explained(screen, found, "x", Rag()))
    assert "words: weight 1, lowest 2.0000, highest 8.0000" in told


def test_limits_that_cannot_be_told_are_not_made_up() -> None:
    best = result(hit("a", 0.5, Placing("dense", 0, 1, 0.8, 0.5)))
    told = seen(lambda screen: print_explained(screen, best, "x", Rag()), width=100)
    assert "meaning: weight 0.5, highest 0.8000, lowest not to be told from so few passages" in told
    third = result(hit("a", 0.2, Placing("dense", 0, 3, 0.8, 0.2)))
    told = seen(lambda screen: print_explained(screen, third, "x", Rag()), width=100)
    assert "meaning: weight 0.5, lowest not to be told" in told


def test_a_snippet_shows_the_words_that_were_looked_for() -> None:
    text = "filler " * 100 + "The key hangs behind the blue cup. " + "filler " * 100
    shown = snippet(text, (), "where is the blue cup?")
    assert "behind the blue cup" in shown
    assert len(shown) <= SNIPPET
    assert (shown[0], shown[-1]) == ("…", "…")
    assert snippet(text, (), "").startswith("filler")
    assert snippet("end " * 100 + "needle", (), "needle").endswith("needle")


def test_a_snippet_leaves_out_the_heading_that_stands_above_it() -> None:
    assert snippet("## Power\n\nComes by cable.", ("Work", "Power")) == "Comes by cable."
    assert snippet("## Power\n\nComes by cable.", ("Work",)) == "## Power Comes by cable."
