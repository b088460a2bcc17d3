"""Two plain ways to cut a text, to hold ours against: windows of tokens, and splitting at ever smaller separators."""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from pincite.text.sentences import Span
from pincite.text.tokens import Tokenizer

SIZE = 400
"""Tokens of a piece at most."""
SEPARATORS = ("\n\n", "\n", ". ", " ")
"""Where the recursive splitter cuts, the first that helps."""

Cutter = Callable[[str, Tokenizer], list[Span]]


def windows(text: str, tokenizer: Tokenizer) -> list[Span]:
    """One window of tokens after the other, wherever that cuts."""
    return list(_windows(text, tokenizer, 0, len(text)))


def _windows(text: str, tokenizer: Tokenizer, start: int, end: int) -> Iterator[Span]:
    while start < end:
        after = tokenizer.reach(text, start, end, SIZE)
        yield start, after
        start = after


def recursive(text: str, tokenizer: Tokenizer) -> list[Span]:
    """Paragraphs packed until a piece is full; one that is too large is cut into lines, then sentences, then words."""
    return list(_cut(text, tokenizer, (0, len(text)), 0)) if text else []


def _cut(text: str, tokenizer: Tokenizer, span: Span, depth: int) -> Iterator[Span]:
    start, end = span
    if tokenizer.count(text[start:end]) <= SIZE:
        yield span
        return
    if depth == len(SEPARATORS):
        yield from _windows(text, tokenizer, start, end)
        return
    pattern = re.compile(re.escape(SEPARATORS[depth]))
    ends = [found.end() for found in pattern.finditer(text, start, end)]
    begun = start
    for here, following in pairwise(dict.fromkeys([start, *ends, end])):
        if tokenizer.count(text[begun:following]) <= SIZE:
            continue
        if begun < here:
            yield begun, here
        begun = here
        if tokenizer.count(text[here:following]) > SIZE:
            yield from _cut(text, tokenizer, (here, following), depth + 1)
            begun = following
    if begun < end:
        yield begun, end


CUTTERS: Mapping[str, Cutter] = {f"windows of {SIZE} tokens": windows, f"recursive, {SIZE} tokens": recursive}
