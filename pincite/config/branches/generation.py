"""Settings of answers: language model, prompt, citations, checks and conversations."""

from typing import Literal

from pydantic import Field, SecretStr

from pincite.config.branches.base import Branch, Share


class Guard(Branch):
    """Checks on incoming questions."""

    max_query_chars: int = Field(
        default=4000, ge=1, le=100_000, description="Maximum length of a question, in characters."
    )
    injection: Literal["off", "warn", "block"] = Field(
        default="warn",
        description="What happens when a question looks like a prompt injection: nothing, a warning in the answer, or "
        "an error. A suspicious passage only causes a warning.",
    )


class Fallback(Branch):
    """The language model that answers when the first one fails."""

    provider: str = Field(
        default="",
        description="As `llm.provider`. Empty: `openai_compatible` if a base URL is set, otherwise no fallback.",
    )
    base_url: str = Field(default="", description="Base URL of the fallback server.")
    api_key: SecretStr | None = Field(
        default=None, description="API key of the fallback server. From the environment only."
    )
    model: str = Field(default="", description="Model name; empty uses the first model the server offers.")


class Llm(Branch):
    """The language model that writes the answer."""

    provider: str = Field(
        default="",
        description="`extractive`, `openai_compatible`, `ollama`, `anthropic`, `llama`, `scripted`, or a dotted path. "
        "Empty: `openai_compatible` if a base URL is set, otherwise `extractive`.",
    )
    base_url: str = Field(
        default="",
        description="Base URL of the model server, such as `http://127.0.0.1:8080/v1`; Ollama and Anthropic have "
        "their own default.",
    )
    api_key: SecretStr | None = Field(
        default=None, description="API key of the model server. From the environment only."
    )
    model: str = Field(default="", description="Model name; empty uses the first model the server offers.")
    path: str = Field(
        default="", description="GGUF file for the provider `llama`. From the environment or the settings file only."
    )
    tools: bool | None = Field(
        default=None,
        description="Whether the model supports native tool calls. Empty: taken from the model table, then from the "
        "server, otherwise tried out; without native tool calls, plain text is used.",
    )
    vision: bool | None = Field(
        default=None,
        description="Whether the model accepts images. Empty: taken from the model table, then from the server, "
        "otherwise no.",
    )
    temperature: float | None = Field(
        default=None,
        ge=0,
        le=2,
        description="Sampling temperature. Empty: from the model table, 0.3 for unknown models.",
    )
    top_p: Share | None = Field(
        default=None, description="Nucleus sampling. Empty: from the model table, otherwise the server's default."
    )
    top_k: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="Sample from this many likeliest tokens. Empty: Ollama and the model in the process use the model "
        "table, others the server's default.",
    )
    max_tokens: int = Field(default=1000, ge=1, le=100_000, description="Maximum length of an answer, in tokens.")
    window: int = Field(
        default=0,
        ge=0,
        le=10_000_000,
        description="Context window of the configured model in tokens, prompt and answer together. 0: taken from the "
        "model table, then from the server, otherwise 8192.",
    )
    timeout_s: float = Field(default=120, gt=0, le=3600, description="Timeout of one model call, in seconds.")
    first_token_timeout_s: float | None = Field(
        default=None,
        gt=0,
        le=3600,
        description="Timeout for the first token of a model call, in seconds. Empty: 60, or llm.timeout_s for a model "
        "on this machine, which may take long to read a prompt.",
    )
    question_timeout_s: float = Field(
        default=180, gt=0, le=3600, description="Timeout of a whole question, in seconds."
    )
    fallback: Fallback = Fallback()


class Agent(Branch):
    """Limits of the agent, which answers in several steps (mode `agent`)."""

    max_iterations: int = Field(
        default=10, ge=1, le=50, description="Maximum number of model turns; after the last one the model must answer."
    )
    max_tokens: int = Field(
        default=60_000,
        ge=1000,
        le=10_000_000,
        description="Token budget of all turns together, prompts and answers; then the model must answer.",
    )
    result_tokens: int = Field(
        default=1500, ge=100, le=50_000, description="Maximum length of one tool result in the prompt, in tokens."
    )


class Resilience(Branch):
    """Retries and circuit breaker for external services: language models, embedders and rerankers."""

    retries: int = Field(
        default=3,
        ge=0,
        le=10,
        description="Retries after 429, 5xx and network errors; none once the first byte has arrived.",
    )
    backoff_s: float = Field(
        default=1,
        ge=0,
        le=60,
        description="Wait before the first retry, in seconds; doubles each time, plus up to 25 % jitter.",
    )
    backoff_cap_s: float = Field(
        default=10,
        ge=0,
        le=600,
        description="Maximum wait before a retry, in seconds, even if the service asks for more.",
    )
    breaker_failures: int = Field(
        default=5, ge=1, le=1000, description="Consecutive failures that open the circuit breaker of a service."
    )
    breaker_s: float = Field(
        default=30,
        ge=0,
        le=3600,
        description="Seconds the breaker stays open before one call may try the service again.",
    )


class Context(Branch):
    """The passages in the prompt."""

    max_tokens: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        description="Token budget for the passages in a prompt, never more than 56 % of the model's context window; 0 "
        "uses these 56 %. With the template `five-stage` it is a budget of four characters for each "
        "token.",
    )
    template: Literal["default", "five-stage", "local"] = Field(
        default="default", description="Prompt template for passages and question; see docs/prompts.md."
    )
    order: Literal["score", "sandwich"] = Field(
        default="score",
        description="Order of the passages in a prompt: best first (`score`), or the best first and last and the "
        "weakest in the middle, which models attend to least (`sandwich`).",
    )


class Citations(Branch):
    """How an answer cites its sources."""

    form: Literal["source", "title"] = Field(
        default="source", description="Citation format the model is asked for: `[Source N]`, or the source's title."
    )


class Answers(Branch):
    """Effort spent on an answer; a level sets these and other settings together, see docs/levels.md."""

    level: Literal["basic", "standard", "enhanced", "maximum"] = Field(
        default="standard",
        description="Level of questions that do not name one. `standard` leaves all settings unchanged; the other "
        "levels change the settings listed in docs/levels.md.",
    )
    chain_of_thought: Literal["off", "auto", "on"] = Field(
        default="off",
        description="Whether the model reasons step by step before it answers: never, for comparisons and questions "
        "that ask for reasons (`auto`), or always. The reasoning is never shown.",
    )
    ensemble_voting: bool = Field(
        default=False,
        description="Let the model write several drafts at once and return the draft whose statements the others "
        "agree with.",
    )
    drafts: int = Field(default=3, ge=2, le=7, description="Number of drafts for ensemble voting.")
    extended_thinking: bool = Field(
        default=False, description="Let a reasoning model think at length before it answers."
    )
    thinking_tokens: int = Field(
        default=4096,
        ge=1024,
        le=100_000,
        description="Token budget for thinking, if the context window is large enough; chain of thought gets a "
        "quarter of it.",
    )
    reader: Literal["none", "reader"] = Field(
        default="reader",
        description="Model that reads the question with each passage to choose the sentences of an extractive answer "
        "or to refuse, and claims with their passage to check them: the built-in pincite-read (`reader`), or none. "
        "Without it, words and the embedder decide.",
    )
    suggestions: Literal["off", "model", "checked"] = Field(
        default="checked",
        description="Suggested follow-up questions: none; the model's suggestions, unchecked (`model`); or only those "
        "for which a search finds passages (`checked`). If there are none, `checked` makes questions from the "
        "headings and sentences of other passages found.",
    )


class Grounding(Branch):
    """Check of an answer against its sources."""

    judge: Literal["rules", "model"] = Field(
        default="rules",
        description="What decides whether a passage supports the claim that cites it: rules on words, meaning, "
        "numbers, names and negations (`rules`), or these rules and then the model, in one call for the whole answer "
        "(`model`). The model cannot overrule a claim that a rule refutes.",
    )
    replace_unsupported: bool = Field(
        default=True,
        description="Show sentences quoted from the documents instead of a model's answer that its sources do not "
        "support, where the quoted sentences are better supported. A warning and `metadata.replaced_model` say so.",
    )


class ConfidenceRule(Branch):
    """How the confidence of an answer is determined."""

    rule: Literal["calibrated", "product", "counted"] = Field(
        default="calibrated",
        description="Source of the confidence level: a calibrated estimate of how likely the answer is right, the "
        "relevance of the best source cited × the groundedness, or the number of passages found and their mean "
        "similarity (high: 3 and .5; medium: 2 and .3).",
    )


class Conversation(Branch):
    """Conversation history and shared answers."""

    query_rewriting_enabled: bool = Field(
        default=True, description="Rewrite a follow-up question (`And in Germany?`) into a standalone question."
    )
    db_rehydration_enabled: bool = Field(
        default=True, description="Load the history of a stored session from the database, also after a restart."
    )
    max_history_turns: int = Field(
        default=15, ge=0, le=15, description="Maximum number of turns in the prompt; fewer for small models."
    )
    share_days: int = Field(
        default=30, ge=1, le=3650, description="Maximum number of days that a shared link stays valid."
    )
