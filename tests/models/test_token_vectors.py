"""Token vectors: int8 and MaxSim, against values worked out by hand."""

import numpy as np
import pytest

from pincite.models.token_vectors import PackedTokens, max_sim, pack, unit_rows, unpack

EAST, NORTH = [1.0, 0.0], [0.0, 1.0]
HALF = [0.5**0.5, 0.5**0.5]


def _tokens(*rows: list[float]) -> np.ndarray:
    return np.array(rows, np.float32)


def test_max_sim_is_the_mean_of_each_tokens_best_cosine() -> None:
    question = _tokens(EAST, NORTH)
    passages = [pack(_tokens(EAST, NORTH)), pack(_tokens(EAST)), pack(_tokens(HALF))]
    assert max_sim(question, passages) == pytest.approx([1.0, 0.5, 0.5**0.5], abs=1e-3)


def test_a_passage_without_tokens_gets_nothing_and_does_not_shift_the_others() -> None:
    passages = [b"", pack(_tokens(NORTH)), b"", pack(_tokens(EAST)), b""]
    assert max_sim(_tokens(EAST), passages) == pytest.approx([0, 0, 0, 1, 0])


def test_no_question_tokens_or_no_passages_give_no_scores() -> None:
    assert max_sim(np.zeros((0, 2), np.float32), [pack(_tokens(EAST))]) == [0.0]
    assert max_sim(_tokens(EAST), []) == []


def test_packing_keeps_directions_in_one_byte_per_dimension() -> None:
    rows = unit_rows(np.random.default_rng(1).normal(size=(50, 384)))
    data = pack(rows)
    assert len(data) == 50 * 384
    assert (np.sum(unpack(data, 384) * rows, axis=1) > 0.9995).all()


def test_a_row_of_zeroes_stays() -> None:
    assert unit_rows(np.zeros((1, 3))).tolist() == [[0.0, 0.0, 0.0]]
    assert unpack(pack(np.zeros((1, 3), np.float32)), 3).tolist() == [[0.0, 0.0, 0.0]]


def test_packed_tokens_pass_between_processes() -> None:
    packed = PackedTokens("model", 2, [b"\x01\x02", b""])
    assert PackedTokens.from_message(packed.to_message()) == packed
