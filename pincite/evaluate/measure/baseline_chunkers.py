"""Two baseline chunkers for comparison: fixed token windows, and recursive splitting at separators."""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from pincite.text.sentences import Span
from pincite.text.tokens import Tokenizer

CHUNK_TOKENS = 400
"""Maximum chunk size in tokens."""

SEPARATORS = ("\n\n", "\n", ". ", " ")
"""Separators of the recursive splitter, in order of preference."""

Chunker = Callable[[str, Tokenizer], list[Span]]


def split_by_window(text: str, tokenizer: Tokenizer) -> list[Span]:
    """Split a text into consecutive windows of tokens."""
    return list(_windows(text, tokenizer, 0, len(text)))


def _windows(text: str, tokenizer: Tokenizer, start: int, end: int) -> Iterator[Span]:
    while start < end:
        after = tokenizer.reach(text, start, end, CHUNK_TOKENS)
        yield start, after
        start = after


def split_recursively(text: str, tokenizer: Tokenizer) -> list[Span]:
    """Pack paragraphs into chunks; a paragraph that is too large is split into lines, then sentences, then words."""
    return list(_split(text, tokenizer, (0, len(text)), 0)) if text else []


def _split(text: str, tokenizer: Tokenizer, span: Span, depth: int) -> Iterator[Span]:
    start, end = span
    if tokenizer.count(text[start:end]) <= CHUNK_TOKENS:
        yield span
        return
    if depth == len(SEPARATORS):
        yield from _windows(text, tokenizer, start, end)
        return
    pattern = re.compile(re.escape(SEPARATORS[depth]))
    ends = [found.end() for found in pattern.finditer(text, start, end)]
    begun = start
    for here, following in pairwise(dict.fromkeys([start, *ends, end])):
        if tokenizer.count(text[begun:following]) <= CHUNK_TOKENS:
            continue
        if begun < here:
            yield begun, here
        begun = here
        if tokenizer.count(text[here:following]) > CHUNK_TOKENS:
            yield from _split(text, tokenizer, (here, following), depth + 1)
            begun = following
    if begun < end:
        yield begun, end


CHUNKERS: Mapping[str, Chunker] = {
    f"windows of {CHUNK_TOKENS} tokens": split_by_window,
    f"recursive, {CHUNK_TOKENS} tokens": split_recursively,
}
