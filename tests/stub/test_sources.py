"""Quoting whatever source comes first, in each of the shapes prompts have."""

import pytest

from pincite.stub.sources import first_source, quote

CATS = "Cats sleep a lot. Cats purr\nwhen they are content.\n\nDogs do not."
FENCE = "=== 0123456789abcdef ==="
SHAPES = {
    "fenced": (
        f"Cite as [Source N].\n\n{FENCE}\n[Source 1] Pets > Cats, page 2\n{CATS}\n{FENCE}\n\n{FENCE}\n[Source 2] B\nWhy purr?\n{FENCE}",
        "Source 1",
    ),
    "by title": (
        f"Answer from the context.\n{FENCE}\n[Pets > Cats]\n{CATS}\n\n[Birds]\nWhy do cats purr? No.\n{FENCE}",
        "Pets",
    ),
    "in one prompt": (f"Context:\n[Source: pets.md page=1 score=0.5]\n{CATS}", "Source 1"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_sentence_that_fits_best_is_quoted_from_the_first_source(shape: str) -> None:
    prompt, mark = SHAPES[shape]
    assert quote(prompt, "Why do cats purr?") == f"Cats purr when they are content. [{mark}]"
    assert prompt[first_source(prompt)] == "["


@pytest.mark.parametrize("prompt", ["", "No sources here.", f"[Source 1] Empty\n{FENCE}\n"])
def test_without_a_source_it_says_so(prompt: str) -> None:
    assert quote(prompt, "Why?").startswith("I don't know")
