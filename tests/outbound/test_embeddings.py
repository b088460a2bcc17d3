import math

import pytest

from pincite.errors import ProviderError
from pincite.outbound.embeddings import split, unit_vectors


def test_long_texts_lose_nothing() -> None:
    text = "".join(str(n % 10) for n in range(20_000))
    windows = split(text, "p:", size=8000, shared=400)
    assert all(len(window) <= 8002 and window.startswith("p:") for window in windows)
    assert windows[0][2:] + "".join(window[402:] for window in windows[1:]) == text
    assert split("short", "p:", size=8000, shared=400) == ["p:short"]


def test_vectors_get_unit_length() -> None:
    [vector] = unit_vectors([[3, 4]], 1, 2, "m")
    assert math.isclose(math.hypot(*vector), 1.0)


@pytest.mark.parametrize(
    "vectors", [[], [[1.0]], [[0.0, 0.0]], [[float("nan"), 1.0]], [[float("inf"), 1.0]], [["a", "b"]], [None], [5]]
)
def test_vectors_that_cannot_be_right_are_refused(vectors: list[list[float]]) -> None:
    with pytest.raises(ProviderError, match=r"^m "):
        unit_vectors(vectors, 1, 2, "m")
