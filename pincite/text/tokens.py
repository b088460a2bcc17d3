"""Token counts, offline, with the vocabularies of OpenAI's models, which are loaded on first use."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from pincite.errors import SettingsError

ENCODINGS = {"cl100k_base": 100_256, "o200k_base": 199_998}
"""The vocabularies and their sizes."""

_CHARS_PER_TOKEN = 6
"""Characters that are encoded per token of a limit; English has about four per token."""


class Tokenizer:
    """One vocabulary: counts tokens and finds the offset at which a number of tokens ends."""

    def __init__(self, name: str = "cl100k_base") -> None:
        if name not in ENCODINGS:
            raise SettingsError(f"there is no tokenizer '{name}'; there are: {', '.join(ENCODINGS)}")
        self.name = name

    @cached_property
    def _encoding(self) -> Any:
        from rs_bpe.bpe import openai  # importing takes 0.1 s

        return getattr(openai, self.name)()

    def count(self, text: str) -> int:
        """The number of tokens of a text."""
        try:
            return int(self._encoding.count(text))
        except UnicodeEncodeError:
            return int(self._encoding.count(_encodable(text)))

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens; empty if one of them is none of this vocabulary."""
        if not all(0 <= token < ENCODINGS[self.name] for token in tokens):  # the library crashes on such a token
            return ""
        return str(self._encoding.decode(list(tokens)) or "")

    def starts(self, text: str) -> Iterator[int]:
        """The start offset of each token; a token that begins inside a character starts at that character."""
        encoded = _encodable(text).encode()
        sizes: dict[int, int] = {}
        decode, at, characters = self._encoding.bpe().decode_tokens, 0, 0
        for token in self._encoding.encode(encoded.decode()):
            yield characters if not 0x80 <= encoded[at] < 0xC0 else characters - 1
            if token not in sizes:
                sizes[token] = len(decode([token]))
            part = encoded[at : at + sizes[token]]
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
            tokens = self._encoding.encode(window)
            if len(tokens) > limit or start + width >= end:
                break
            width *= 2
        if len(tokens) <= limit:
            return end
        reached = self._whole_characters(tokens[:limit], window)
        while reached > 1 and self._encoding.count(window[:reached]) > limit:
            reached -= 1
        return start + max(1, reached)

    def _whole_characters(self, tokens: list[int], window: str) -> int:
        """The number of whole characters that the tokens encode."""
        size = len(self._encoding.bpe().decode_tokens(tokens))
        return len(window.encode()[:size].decode("utf-8", "ignore"))


def _encodable(text: str) -> str:
    """The text, with the halves of broken surrogate pairs replaced one for one."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
