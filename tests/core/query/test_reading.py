"""What a reader found: shares of sentences and the best window, worked out by hand."""

import pytest

from pincite.core.query.reading import Reading, Window


def window(answerable: float, begins: tuple[float, ...], finishes: tuple[float, ...], at: int = 0) -> Window:
    """A window whose pieces are five characters long."""
    starts = tuple(at + 5 * n for n in range(len(begins)))
    return Window(answerable, starts, tuple(s + 4 for s in starts), begins, finishes, 0.1, 0.2, 0.3, 0.4)


def test_the_share_of_a_sentence_is_the_mean_of_where_the_answer_begins_and_ends() -> None:
    found = window(0.8, (0.1, 0.7, 0.2, 0.0), (0.0, 0.2, 0.6, 0.2))
    assert found.share(5, 15) == pytest.approx((0.7 + 0.2 + 0.2 + 0.6) / 2)
    assert found.share(0, 20) == pytest.approx(1)
    assert found.share(20, 30) == 0


def test_a_passage_answers_as_its_best_window() -> None:
    reading = Reading((window(0.2, (1.0,), (1.0,)), window(0.9, (0.5, 0.5), (0.5, 0.5), at=100)))
    assert reading.answerable == 0.9
    assert reading.best.starts[0] == 100
    assert reading.probability(0, 5) == pytest.approx(0.2)
    assert reading.probability(100, 105) == pytest.approx(0.45)
    assert (reading.supported, reading.contradicted) == (0.3, 0.4)
