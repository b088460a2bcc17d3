"""Token counts, offline, with the vocabularies of OpenAI's models, which are loaded on first use."""

import lzma
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pincite.errors import SettingsError

if TYPE_CHECKING:
    from tiktoken import Encoding

ENCODINGS = {"cl100k_base": 100_256, "o200k_base": 199_998}
"""The vocabularies and their sizes."""
VOCABULARIES = Path(__file__).parent / "vocabularies"
_PATTERNS = {
    "cl100k_base": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$"
    r"|\s*[\r\n]|\s+(?!\S)|\s",
    "o200k_base": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}
"""How each vocabulary cuts a text into pieces before it joins bytes to tokens."""

_CHARS_PER_TOKEN = 6
"""Characters that are encoded per token of a limit; English has about four per token."""


class Tokenizer:
    """One vocabulary: counts tokens and finds the offset at which a number of tokens ends."""

    def __init__(self, name: str = "cl100k_base") -> None:
        if name not in ENCODINGS:
            raise SettingsError(f"there is no tokenizer '{name}'; there are: {', '.join(ENCODINGS)}")
        self.name = name

    @cached_property
    def _encoding(self) -> "Encoding":
        return _load_encoding(self.name)

    def count(self, text: str) -> int:
        """The number of tokens of a text."""
        return len(self._encode(text))

    def _encode(self, text: str) -> list[int]:
        return self._encoding.encode_ordinary(_encodable(text))

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens; empty if one of them is none of this vocabulary."""
        if not all(0 <= token < ENCODINGS[self.name] for token in tokens):
            return ""
        return self._encoding.decode(list(tokens))

    def starts(self, text: str) -> Iterator[int]:
        """The start offset of each token; a token that begins inside a character starts at that character."""
        encoded = _encodable(text).encode()
        at, characters = 0, 0
        for token in self._encode(encoded.decode()):
            yield characters if not 0x80 <= encoded[at] < 0xC0 else characters - 1
            part = encoded[at : at + len(self._encoding.decode_single_token_bytes(token))]
            at += len(part)
            characters += sum(byte & 0xC0 != 0x80 for byte in part)

    def reach(self, text: str, start: int, end: int, limit: int) -> int:
        """The furthest offset up to `end` such that `text[start:offset]` has at most `limit` tokens.

        The offset is always greater than `start`, so that a loop ends. The cost depends on `limit`, not on the length
        of the text.
        """
        width = limit * _CHARS_PER_TOKEN
        while True:
            window = _encodable(text[start : min(end, start + width)])
            tokens = self._encode(window)
            if len(tokens) > limit or start + width >= end:
                break
            width *= 2
        if len(tokens) <= limit:
            return end
        reached = self._whole_characters(tokens[:limit], window)
        while reached > 1 and self.count(window[:reached]) > limit:
            reached -= 1
        return start + max(1, reached)

    def _whole_characters(self, tokens: list[int], window: str) -> int:
        """The number of whole characters that the tokens encode."""
        size = len(self._encoding.decode_bytes(tokens))
        return len(window.encode()[:size].decode("utf-8", "ignore"))


@cache
def _load_encoding(name: str) -> "Encoding":
    """Read a vocabulary of this package: the lengths of its tokens, then their bytes."""
    from tiktoken import Encoding  # importing it and reading the vocabulary take 0.2 s

    content, ranks, at = lzma.decompress((VOCABULARIES / f"{name}.xz").read_bytes()), {}, ENCODINGS[name]
    for number, length in enumerate(content[: ENCODINGS[name]]):
        ranks[content[at : at + length]] = number
        at += length
    return Encoding(name, pat_str=_PATTERNS[name], mergeable_ranks=ranks, special_tokens={})


def _encodable(text: str) -> str:
    """The text, with the halves of broken surrogate pairs replaced one for one."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
