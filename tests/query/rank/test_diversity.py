"""Deduplication and MMR."""

import random
from dataclasses import replace

import pytest

from pincite.config.branches.retrieval import Rag
from pincite.core.query.hits import Hit
from pincite.query.rank import diversity
from pincite.query.rank.diversity import dedupe, diversifies, mmr
from pincite.query.rank.relevance import chunk_terms
from pincite.query.understand.intent import analyse_question
from tests.builders import hit, plan

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


HITS = [
    hit("cats purr loudly at night", key=1, score=0.9, document_id="cats"),
    hit("cats purr softly at night", key=2, score=0.85, document_id="cats"),
    hit("dogs bark at strangers", key=3, score=0.7, document_id="dogs"),
    hit("stones are silent", key=4, score=0.1, document_id="stones"),
]


def test_mmr_prefers_different_passages() -> None:
    assert [one.chunk.key for one in mmr(HITS, 0.5, 4)] == [1, 3, 2, 4]
    assert [one.chunk.key for one in mmr(HITS, 1.0, 4)] == [1, 2, 3, 4]


def test_nearly_equal_scores_do_not_outweigh_another_document() -> None:
    cosines = [hit(f"ferry {key} sails", key=key, score=0.793 - key / 1000, document_id="a") for key in range(5)]
    hits = [*cosines, hit("The boat leaves at dawn", key=9, score=0.785, document_id="b")]
    assert [one.chunk.key for one in mmr(hits, 0.8, 5)][1] == 9


def test_scores_never_rise_and_can_be_worked_out_again() -> None:
    chosen = mmr(HITS, 0.6, 4)
    assert [one.score for one in chosen] == sorted((one.score for one in chosen), reverse=True)
    for one in chosen:
        [step] = one.adjustments
        assert step.scale is not None
        assert one.score == pytest.approx(step.scale.share(step.before) - (1 - step.scale.weight) * step.amount)


def test_two_passages_of_one_document_are_alike_whatever_they_say() -> None:
    hits = [hit("a b c", key=1, score=1.0, document_id="x"), hit("d e f", key=2, score=0.5, document_id="x")]
    assert mmr(hits, 0.5, 2)[1].adjustments[0].amount == 0.5


def test_equal_scores_and_single_hits_are_no_trouble() -> None:
    same = [hit("a", key=1, score=0.3), hit("b", key=2, score=0.3)]
    assert [one.chunk.key for one in mmr(same, 0.7, 2)] == [1, 2]
    assert mmr(HITS[:1], 0.7, 4) == HITS[:1]


def test_comparisons_are_spread_unless_forbidden_and_others_only_where_wished() -> None:
    comparison = replace(plan("a or b"), analysis=analyse_question("Compare a and b"))
    modes = [Rag(mmr=mode) for mode in ("off", "auto", "on")]  # type: ignore[arg-type]
    assert [diversifies(comparison, rag) for rag in modes] == [False, True, True]
    assert [diversifies(plan("a"), rag) for rag in modes] == [False, False, True]


def random_hits(chosen: random.Random) -> list[Hit]:
    """Hits of few words and documents, some of equal score, best first."""
    words = [f"word{n}" for n in range(40)]
    made = [
        hit(" ".join(chosen.choices(words, k=chosen.randint(1, 25))), key=key, score=round(chosen.random(), 1))
        for key in range(chosen.randint(2, 60))
    ]
    return sorted(made, key=lambda one: -one.score)


def plain_mmr(hits: list[Hit], weight: float, limit: int) -> list[tuple[int, float]]:
    """MMR by its definition: every hit is compared with every chosen one before each choice."""
    scores = [one.score for one in hits]
    span = max(max(scores) - min(scores), diversity.MIN_SCORE_RANGE * max(scores)) or 1.0
    chosen, values, terms = list[int](), list[float](), [chunk_terms(one.chunk) for one in hits]

    def near(n: int, m: int) -> float:
        same = diversity.SAME_DOCUMENT_SIMILARITY * (hits[n].chunk.document_id == hits[m].chunk.document_id)
        return max(same, len(terms[n] & terms[m]) / (len(terms[n] | terms[m]) or 1))

    def value(n: int) -> float:
        return weight * (scores[n] - min(scores)) / span - (1 - weight) * max([0.0, *(near(n, m) for m in chosen)])

    while len(chosen) < min(limit, len(hits)):
        best = max((n for n in range(len(hits)) if n not in chosen), key=value)
        values.append(value(best))
        chosen.append(best)
    return list(zip(chosen, values, strict=True))


def test_few_comparisons_give_the_order_of_all_comparisons() -> None:
    chosen = random.Random(3)
    for _ in range(40):
        hits, limit = random_hits(chosen), chosen.choice((3, 20, 100))
        found = mmr(hits, 0.6, limit)
        expected = plain_mmr(hits, 0.6, limit)
        assert [(one.chunk.key, one.score) for one in found] == [(hits[n].chunk.key, value) for n, value in expected]


def test_the_bits_of_two_texts_never_rule_out_a_shared_token() -> None:
    chosen = random.Random(4)
    for _ in range(200):
        one, other = (diversity._tokens(" ".join(map(str, chosen.choices(range(900), k=200)))) for _ in range(2))
        assert len(one.words & other.words) <= one.most_shared(other)
        assert one.most_shared(one) == len(one.words)
