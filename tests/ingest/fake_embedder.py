"""A local embedder that misbehaves on demand; a child process loads it by its dotted path."""

import os
import stat
import struct
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pincite.core.protocols import Embedder
from pincite.errors import SettingsError


@dataclass(frozen=True)
class Options:
    """`mood` says how to misbehave; each embedder writes its process id and niceness to the file `diary`."""

    diary: Path | str
    mood: str = "good"
    label: str = "fake"
    local: bool = True


@dataclass
class FakeEmbedder:
    """Counts letters: the vector of a text points from its consonants to its vowels."""

    options: Options
    batches: list[int] = field(default_factory=list)
    dimensions = 2
    max_tokens = 3

    @property
    def name(self) -> str:
        return self.options.label

    @property
    def local(self) -> bool:
        return self.options.local

    def windows(self, text: str, prefix: str = "") -> list[str]:
        words = text.split()
        return [prefix + " ".join(words[first : first + 3]) for first in range(0, len(words), 3)] or [prefix]

    async def embed(self, texts: Sequence[str], *, as_query: bool) -> list[list[float]]:
        self.batches.append(len(texts))
        mood = self.options.mood
        if mood == "dies" or (mood == "dies once" and len(starts(self.options.diary)) == 1):
            sys.stderr.write("thinking...\nout of letters\n")
            sys.stderr.flush()
            os._exit(7)
        if mood == "raises":
            raise ZeroDivisionError("no vowels")
        if mood == "prints":
            os.write(1, b"a library says hello\n")
        if mood in NONSENSE:
            os.write(answers_pipe(), NONSENSE[mood])
            time.sleep(60)
        return misbehave(mood, [vector(text) for text in texts])


NONSENSE = {
    "talks nonsense": b"x" * 100,
    "announces too much": struct.pack(">BI", 1, 2**32 - 1),
    "answers with a list": struct.pack(">BI", 1, 2) + b"[]",
}
"""Mood → the bytes that the child writes between its answers."""


def answers_pipe() -> int:
    """The descriptor on which the child process sends its answers."""
    for descriptor in range(3, 32):
        try:
            if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
                return descriptor
        except OSError:
            continue
    raise LookupError("there is no pipe")


def vector(text: str) -> list[float]:
    """The vector that a well-behaved fake returns for a text."""
    vowels = sum(letter in "aeiou" for letter in text)
    length = (len(text) ** 2 + vowels**2) ** 0.5 or 1.0
    return [len(text) / length, vowels / length] if text else [1.0, 0.0]


def misbehave(mood: str, vectors: list[list[float]]) -> list[list[float]]:
    """The vectors, made invalid according to the mood."""
    match mood:
        case "nan":
            return [[float("nan"), 1.0], *vectors[1:]]
        case "zero":
            return [[0.0, 0.0], *vectors[1:]]
        case "too long":
            return [[3.0, 4.0], *vectors[1:]]
        case "too few":
            return vectors[1:]
        case "too flat":
            return [[1.0], *vectors[1:]]
        case "a little off":
            return [[1.001 * x, 1.001 * y] for x, y in vectors]
        case _:
            return vectors


def starts(diary: Path | str) -> list[tuple[int, int]]:
    """Process id and niceness of every embedder created so far."""
    lines = Path(diary).read_text().splitlines() if Path(diary).exists() else []
    return [(int(process), int(niceness)) for process, niceness in map(str.split, lines)]


def make_embedder(options: Options) -> Embedder:
    """Make a fake embedder and note its process in the diary."""
    if options.mood == "refuses":
        raise SettingsError("there is no alphabet here")
    with open(options.diary, "a") as diary:
        diary.write(f"{os.getpid()} {os.nice(0)}\n")
    return FakeEmbedder(options)
