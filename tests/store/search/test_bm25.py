import math
import random

import numpy as np
import pytest

from pincite.store.search.bm25 import POSTING, SPARSE_KEY_GAP, Corpus, best_matches, without_chunks

CORPUS = Corpus(chunks=5000, words=100_000, k1=1.2, b=0.75)


def packed(*postings: tuple[int, int, int]) -> bytes:
    return np.array(list(postings), POSTING).tobytes()


def textbook(frequency: int, words: int, df: int) -> float:
    idf = math.log(1 + (CORPUS.chunks - df + 0.5) / (df + 0.5))
    length = CORPUS.k1 * (1 - CORPUS.b + CORPUS.b * words / (CORPUS.words / CORPUS.chunks))
    return idf * frequency * (CORPUS.k1 + 1) / (frequency + length)


def test_a_posting_is_eight_bytes_with_the_most_significant_first() -> None:
    assert packed((1, 2, 3)) == bytes([0, 0, 0, 1, 0, 2, 0, 3])


def test_scores_are_those_of_the_textbook_and_add_up() -> None:
    found = {"a": [packed((7, 2, 30)), packed((9, 1, 10))], "b": [packed((9, 3, 10))]}
    [first, second] = best_matches(found, {"a": 1, "b": 2}, CORPUS, b"", limit=10)
    assert (first.key, second.key) == (9, 7)
    assert first.score == pytest.approx(textbook(1, 10, df=2) + 2 * textbook(3, 10, df=1))
    assert second.score == pytest.approx(textbook(2, 30, df=2))
    assert first.most == pytest.approx(2.2 * (math.log(1 + 4998.5 / 2.5) + 2 * math.log(1 + 4999.5 / 1.5)))


def test_removed_chunks_are_neither_counted_nor_found() -> None:
    found = {"a": [packed((7, 2, 30), (8, 5, 10), (9, 1, 10))]}
    gone = np.array([8, 1], ">u4").tobytes()
    left = best_matches({"a": [packed((7, 2, 30), (9, 1, 10))]}, {"a": 1}, CORPUS, b"", limit=10)
    assert best_matches(found, {"a": 1}, CORPUS, gone, limit=10) == left
    assert best_matches({"a": [packed((8, 5, 10))]}, {"a": 1}, CORPUS, gone, limit=10) == []
    assert without_chunks(found["a"][0], [8, 2]) == packed((7, 2, 30), (9, 1, 10))


def test_equal_scores_are_ordered_by_key_at_the_limit() -> None:
    found = {"a": [packed(*((key, 1, 10) for key in (30, 10, 20, 40)))]}
    assert [match.key for match in best_matches(found, {"a": 1}, CORPUS, b"", limit=3)] == [10, 20, 30]


@pytest.mark.parametrize("step", [1, 100 * SPARSE_KEY_GAP])
def test_keys_far_apart_are_ranked_like_keys_close_together(step: int) -> None:
    chosen = random.Random(3)
    postings = {term: [(key, chosen.randint(1, 9), 20) for key in range(1, 40, chosen.randint(1, 3))] for term in "abc"}
    found = {term: [packed(*((key * step, *rest) for key, *rest in some))] for term, some in postings.items()}
    scores: dict[int, float] = {}
    for some in postings.values():
        for key, frequency, words in some:
            scores[key] = scores.get(key, 0.0) + textbook(frequency, words, df=len(some))
    expected = sorted(scores, key=lambda key: (-round(scores[key], 9), key))[:10]
    ranked = best_matches(found, dict.fromkeys("abc", 1.0), CORPUS, b"", limit=10)
    assert [match.key // step for match in ranked] == expected


@pytest.mark.parametrize("limit", [1, 7, 100, 5000])
def test_the_best_of_many_chunks_are_found_exactly(limit: int) -> None:
    chosen = random.Random(4)
    postings = {
        term: [(key, chosen.randint(1, 9), chosen.randint(1, 99)) for key in sorted(chosen.sample(range(9000), count))]
        for term, count in (("a", 3000), ("b", 1200), ("c", 9))
    }
    scores: dict[int, float] = {}
    for some in postings.values():
        for key, frequency, words in some:
            scores[key] = scores.get(key, 0.0) + textbook(frequency, words, df=len(some))
    found = {term: [packed(*some)] for term, some in postings.items()}
    ranked = best_matches(found, dict.fromkeys("abc", 1.0), CORPUS, b"", limit)
    expected = sorted(scores, key=lambda key: (-round(scores[key], 9), key))[:limit]
    assert {match.key for match in ranked} == set(expected)
    assert [match.score for match in ranked] == pytest.approx([scores[key] for key in expected])


def test_no_postings_give_no_matches() -> None:
    assert best_matches({}, {}, CORPUS, b"", limit=10) == []
    assert best_matches({"a": [b""]}, {"a": 1}, CORPUS, b"", limit=10) == []
