"""Every regular expression of the package on adversarial strings: none may take long."""

import importlib
import pkgutil
import re
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache

import pytest

import pincite

pytestmark = pytest.mark.slow
LIMIT_S = 0.05
LINE, TEXT = 2_000, 200
"""Lengths of the strings for patterns that match at the start, and for patterns that search."""
FILLERS = (
    "a", " ", "\n", "1", ".", "-", "=", "<", ">", "[", "]", "(", ")", "!", "`", "'", '"', "\\", "/", ":", "|", "*", "#",
    "~", "A", "ä", "。", "a ", "a.", "1,", "[a", "a](", "<a=", "![", "a\n", "a=b ", "\\[", "all ",
)  # fmt: skip


@cache
def compiled() -> dict[str, re.Pattern[str]]:
    """Return every compiled pattern of a module, also in containers."""
    found: dict[str, re.Pattern[str]] = {}
    for module in pkgutil.walk_packages(pincite.__path__, "pincite."):
        if module.name.endswith("__main__"):
            continue
        try:
            loaded = importlib.import_module(module.name)
        except ImportError:  # what needs an extra
            continue
        for value in vars(loaded).values():
            found |= {f"{pattern.flags}:{pattern.pattern}": pattern for pattern in _patterns(value)}
    return found


def _patterns(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _patterns(one)
    elif isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from _patterns(one)


def _openings(pattern: str) -> list[str]:
    """Return a prefix of the pattern's own literals, so that a string passes its beginning."""
    words = re.findall(r"[A-Za-z]{3,}|[<\[(!`|=:]+", re.sub(r"\\.|\(\?[a-z<!=:P]*", " ", pattern))
    return ["", *dict.fromkeys(words[:2])]


def _spent(look: Callable[[str], object], text: str) -> float:
    """Return the processor time of the shortest of three runs, since other processes may slow one down."""
    best = 1e9
    for _ in range(3):
        began = time.thread_time()
        look(text)
        best = min(best, time.thread_time() - began)
        if best < LIMIT_S:
            break
    return best


def test_patterns_are_found() -> None:
    assert len(compiled()) > 100


@pytest.mark.parametrize("shard", range(4))
def test_no_pattern_takes_long_on_adversarial_strings(shard: int) -> None:
    slow: list[str] = []
    for pattern in list(compiled().values())[shard::4]:
        for opening in _openings(pattern.pattern):
            for filler in FILLERS:
                for size, look in (
                    (16, pattern.match),
                    (28, pattern.match),
                    (LINE, pattern.match),
                    (TEXT, pattern.search),
                ):
                    text = opening + filler * (size // len(filler)) + "\x01"
                    if (spent := _spent(look, text)) > LIMIT_S:
                        slow.append(f"{spent:.2f} s: {pattern.pattern[:80]!r} on {opening!r} and {size} × {filler!r}")
                        break
    assert slow == []
