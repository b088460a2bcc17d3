"""The token budget of a prompt: shares of the context window, and turns of history."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from pincite.core.protocols import ServesModels
from pincite.core.query.question import Question
from pincite.core.run import Run
from pincite.models.facts import Tier
from pincite.text.tokens import Tokenizer

SYSTEM_SHARE, HISTORY_SHARE, SMALL_MODEL_HISTORY_SHARE, SOURCES_SHARE, ANSWER_SHARE = 0.125, 0.125, 0.10, 0.56, 0.19
"""Shares of the context window; models of up to 3B parameters get the smaller history. The question is a source."""
THINKING_DIVISOR = 3
"""Thinking may use the sources' share divided by this."""
TOKENS_PER_MESSAGE = 4
"""Tokens that every message costs beside its content."""

MAX_TURNS: Mapping[Tier, int] = {"up_to_3b": 3, "3b_to_9b": 6, "9b_to_34b": 10, "over_34b": 15, "unknown": 6}
"""Turns of a conversation in the prompt, by the size of the model."""


@cache
def tokenizer(name: str) -> Tokenizer:
    """The tokenizer that prompts are counted with."""
    return Tokenizer(name)


@lru_cache(maxsize=512)
def count_tokens(name: str, text: str) -> int:
    """The number of tokens of a text; cached, since the turns of a conversation recur with every question."""
    return tokenizer(name).count(text)


def window_of(run: Run, question: Question) -> int:
    """The context window of the model that answers a question: of the one the request names, else the configured."""
    llm, model = run.kit.llm, question.sampling.model
    return llm.window_of(model) if model and isinstance(llm, ServesModels) else llm.window


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens for each part of a prompt and for the answer."""

    system: int
    history: int
    sources: int
    answer: int
    thinking: int = 0

    @classmethod
    def of(cls, window: int, tier: Tier, max_sources: int = 0, thinking: int = 0) -> "Budget":
        """The budget of a context window; thinking uses the sources' share, which `max_sources` limits."""
        sources = int(window * SOURCES_SHARE)
        thinking_tokens = min(thinking, sources // THINKING_DIVISOR)
        left = sources - thinking_tokens
        return cls(
            system=int(window * SYSTEM_SHARE),
            history=int(window * (SMALL_MODEL_HISTORY_SHARE if tier == "up_to_3b" else HISTORY_SHARE)),
            sources=min(left, max_sources) if max_sources else left,
            answer=int(window * ANSWER_SHARE),
            thinking=thinking_tokens,
        )

    def for_thinking(self, wanted: int) -> int:
        """The tokens available for thinking, at most `wanted`."""
        return min(wanted, self.sources // THINKING_DIVISOR)

    @property
    def prompt(self) -> int:
        """Maximum tokens of the whole prompt."""
        return self.system + self.history + self.sources
