"""How a model's window is shared out, and how many turns of a conversation it remembers."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from pincite.models.facts import Tier
from pincite.text.tokens import Tokenizer

SYSTEM_SHARE, HISTORY_SHARE, SMALL_MODEL_HISTORY_SHARE, SOURCES_SHARE, ANSWER_SHARE = 0.125, 0.125, 0.10, 0.56, 0.19
"""Shares of the window; models of up to 3B parameters get the smaller history. The question counts as a source."""
THINKING_DIVISOR = 3
"""At most a third of the sources' share is given to what a model thinks before it answers."""
TOKENS_PER_MESSAGE = 4
"""Tokens that go around every message."""

MAX_TURNS: Mapping[Tier, int] = {"up_to_3b": 3, "3b_to_9b": 6, "9b_to_34b": 10, "over_34b": 15, "unknown": 6}
"""Turns a model remembers, by its size."""


@cache
def tokenizer(name: str) -> Tokenizer:
    """What prompts are counted with."""
    return Tokenizer(name)


@lru_cache(maxsize=512)
def count_tokens(name: str, text: str) -> int:
    """The tokens of a text that is met again with the next question, as the turns of a conversation are."""
    return tokenizer(name).count(text)


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens for each part of a prompt and for the answer."""

    system: int
    history: int
    sources: int
    answer: int
    thinking: int = 0

    @classmethod
    def of(cls, window: int, tier: Tier, most_sources: int = 0, thinking: int = 0) -> "Budget":
        """The shares of a window; `most_sources` lowers that of the sources, and what is thought with is taken from it."""
        sources = int(window * SOURCES_SHARE)
        thought = min(thinking, sources // THINKING_DIVISOR)
        left = sources - thought
        return cls(
            system=int(window * SYSTEM_SHARE),
            history=int(window * (SMALL_MODEL_HISTORY_SHARE if tier == "up_to_3b" else HISTORY_SHARE)),
            sources=min(left, most_sources) if most_sources else left,
            answer=int(window * ANSWER_SHARE),
            thinking=thought,
        )

    def for_thinking(self, wished: int) -> int:
        """Tokens that can be had to think with, of so many that are wished for."""
        return min(wished, self.sources // THINKING_DIVISOR)

    @property
    def prompt(self) -> int:
        """Tokens of the whole prompt at most."""
        return self.system + self.history + self.sources
