"""What a reader finds in a passage for a question or a claim."""

from bisect import bisect_left
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReadableText:
    """A passage for a reader: its text, and the title and headings above it."""

    text: str
    above: str = ""


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a passage that was read at once.

    `answerable` is the probability that it answers. For each word piece there are the start and end offset in the
    passage, and the probability that the answer begins or ends there. `yes`, `no` and `supported`, `contradicted` are
    probabilities, too; what remains to 1 is neither.
    """

    answerable: float
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    begins: tuple[float, ...]
    finishes: tuple[float, ...]
    yes: float
    no: float
    supported: float
    contradicted: float

    def share(self, start: int, end: int) -> float:
        """The probability that the answer, if there is one, lies between two offsets."""
        first, last = bisect_left(self.starts, start), bisect_left(self.starts, end)
        return (sum(self.begins[first:last]) + sum(self.finishes[first:last])) / 2


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader found in a passage, window by window."""

    windows: tuple[Window, ...]

    @property
    def best(self) -> Window:
        """The window that answers most probably."""
        return max(self.windows, key=lambda window: window.answerable)

    @property
    def answerable(self) -> float:
        """The probability that the passage answers."""
        return self.best.answerable

    def probability(self, start: int, end: int) -> float:
        """The probability that the passage answers, between two offsets."""
        return max(window.answerable * window.share(start, end) for window in self.windows)

    @property
    def supported(self) -> float:
        """The probability that the passage supports the claim."""
        return max(window.supported for window in self.windows)

    @property
    def contradicted(self) -> float:
        """The probability that the passage contradicts the claim and does not support it."""
        return max(window.contradicted for window in self.windows)
