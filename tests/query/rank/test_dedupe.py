"""What says the same appears once."""

import pytest

from pincite.query.rank.dedupe import dedupe
from tests.builders import hit

LONG = " ".join(
    f"the {word} was carried over the pass in winter and kept dry" for word in "mirror lamp motor lens gear".split()
)
assert len(LONG.split()) > 50


@pytest.mark.parametrize(
    "other",
    [
        LONG,
        LONG.replace(" ", "\n", 7).upper().replace("THE", "The"),
        LONG.replace("kept dry", "kept, dry;"),
        LONG.replace("mirror was", "mirror wass", 1),
    ],
)
def test_the_better_one_stands_for_both_and_names_the_other(other: str) -> None:
    [kept] = dedupe([hit(LONG, key=1), hit(other, key=2)])
    assert kept.chunk.key == 1
    assert [twin.id for twin in kept.also_in] == ["doc2.v1.2"]


@pytest.mark.parametrize(
    "other",
    [
        LONG.replace("mirror", "Tveit", 1),
        LONG.replace("winter", "1931", 1),
        LONG.replace("carried", "thrown"),
        LONG + " and much more was said about it later on",
        "cats purr",
    ],
)
def test_another_name_another_figure_or_more_words_are_something_else(other: str) -> None:
    assert len(dedupe([hit(LONG, key=1), hit(other, key=2)])) == 2


def test_short_passages_are_the_same_only_word_for_word() -> None:
    assert len(dedupe([hit("Cats purr.", key=1), hit("cats  purr", key=2)])) == 1
    assert len(dedupe([hit("Cats purr at night.", key=1), hit("Cats purr at noon.", key=2)])) == 2


def test_no_more_are_kept_than_wanted() -> None:
    hits = [hit("a", key=1), hit("a", key=4), hit("b", key=2), hit("c", key=3)]
    assert [(one.chunk.key, len(one.also_in)) for one in dedupe(hits, 2)] == [(1, 1), (2, 0)]
    assert dedupe([], 2) == dedupe(hits, 0) == []


def test_a_section_is_another_result_than_the_passage_it_consists_of() -> None:
    passage, section = hit("Cats purr.", key=1), hit("Cats purr.", key=2, level=1)
    assert dedupe([passage, section]) == [passage, section]
