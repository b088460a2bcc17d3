"""Where passages stand in a prompt: what is strong where a model reads best, at both ends."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def sandwich(best_first: Sequence[T]) -> list[T]:
    """The best first, the second last, and so on inwards: the weakest stand in the middle."""
    return [*best_first[::2], *reversed(best_first[1::2])]
