"""Answers: the language model, its context, checks and conversations."""

from typing import Literal

from pydantic import Field, SecretStr

from pincite.config.branches.base import Branch, Share


class Guard(Branch):
    """What may come in."""

    max_query_chars: int = Field(default=4000, ge=1, le=100_000, description="Longest question, in characters.")
    injection: Literal["off", "warn", "block"] = Field(
        default="warn",
        description="What becomes of a question that reads like an order to the model: nothing, a warning in the answer, "
        "or a refusal. Passages that read so only ever get a warning.",
    )


class Fallback(Branch):
    """Who writes when the model cannot be reached."""

    provider: str = Field(
        default="", description="As `llm.provider`. Empty: `openai_compatible` where a base URL is set, else nobody."
    )
    base_url: str = Field(default="", description="The other server's address.")
    api_key: SecretStr | None = Field(default=None, description="Key for that server. From the environment only.")
    model: str = Field(default="", description="Model to ask that server for; empty takes the first it offers.")


class Llm(Branch):
    """Who writes the answer."""

    provider: str = Field(
        default="",
        description="`extractive`, `openai_compatible`, `ollama`, `anthropic`, `llama`, `scripted`, or a dotted path. Empty: "
        "`openai_compatible` where a base URL is set, else `extractive`.",
    )
    base_url: str = Field(
        default="",
        description="The model server's address, such as `http://127.0.0.1:8080/v1`; Ollama and Anthropic have their own.",
    )
    api_key: SecretStr | None = Field(default=None, description="Key for that server. From the environment only.")
    model: str = Field(default="", description="Model to ask for; empty takes the first that the server offers.")
    path: str = Field(
        default="", description="The GGUF file that the provider `llama` reads. From the environment or a file only."
    )
    tools: bool | None = Field(
        default=None,
        description="Whether the model calls tools by itself. Empty: by the model table, else the server's word, else it "
        "is tried; one that does not is talked to in plain text.",
    )
    vision: bool | None = Field(
        default=None,
        description="Whether the model sees pictures. Empty: by the model table, else the server's word, else it does not.",
    )
    temperature: float | None = Field(
        default=None, ge=0, le=2, description="Sampling temperature. Empty: by the model table, 0.3 for unknown models."
    )
    top_p: Share | None = Field(
        default=None, description="Nucleus sampling. Empty: by the model table, or as the server likes."
    )
    max_tokens: int = Field(default=1000, ge=1, le=100_000, description="Longest answer, in tokens.")
    window: int = Field(
        default=0,
        ge=0,
        le=10_000_000,
        description="Tokens the model can see, prompt and answer together; 0: by the model table, else the server's "
        "word, else 8192.",
    )
    timeout_s: float = Field(default=120, gt=0, le=3600, description="Longest time for one answer, in seconds.")
    first_token_timeout_s: float = Field(
        default=60, gt=0, le=3600, description="Longest wait for a model's first word, in seconds."
    )
    question_timeout_s: float = Field(
        default=180, gt=0, le=3600, description="Longest time for a whole question, in seconds."
    )
    fallback: Fallback = Fallback()


class Agent(Branch):
    """How far an answer is looked up step by step (mode `agent`)."""

    max_iterations: int = Field(
        default=10, ge=1, le=50, description="Turns of the model; after the last it must answer with what it has."
    )
    max_tokens: int = Field(
        default=60_000,
        ge=1000,
        le=10_000_000,
        description="Tokens that all turns may take together, prompts and answers; then it must answer.",
    )
    result_tokens: int = Field(
        default=1500, ge=100, le=50_000, description="Tokens of one tool's result that the model is shown."
    )


class Resilience(Branch):
    """What is done about outside services that fail: models, embedders and rerankers alike."""

    retries: int = Field(
        default=3,
        ge=0,
        le=10,
        description="Further tries after 429, 5xx and network errors; none after the first byte.",
    )
    backoff_s: float = Field(
        default=1, ge=0, le=60, description="Wait before the second try; doubles each time, plus up to a quarter."
    )
    backoff_cap_s: float = Field(
        default=10, ge=0, le=600, description="Longest wait between two tries, also where a service asks for more."
    )
    breaker_failures: int = Field(
        default=5, ge=1, le=1000, description="Failures in a row after which a service is left alone."
    )
    breaker_s: float = Field(
        default=30, ge=0, le=3600, description="How long it is left alone before one call may try it again."
    )


class Context(Branch):
    """What a model is shown."""

    max_tokens: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        description="Tokens of passages in a prompt at most, never more than 56 % of the model's window; 0 is just that. "
        "With the template `five-stage` a token is four characters.",
    )
    template: Literal["default", "five-stage", "local"] = Field(
        default="default", description="How passages and question are put to the model; see docs/prompts.md."
    )
    order: Literal["score", "sandwich"] = Field(
        default="score",
        description="How passages stand in a prompt: best first, or the best first and last and the weakest in the middle, "
        "where long prompts are read least.",
    )


class Citations(Branch):
    """How an answer names its sources."""

    form: Literal["source", "title"] = Field(
        default="source", description="What the model is told to write: `[Source N]`, or the source's title."
    )


class Answers(Branch):
    """How much is done for an answer; a level sets these and others at once, see docs/levels.md."""

    level: Literal["basic", "standard", "enhanced", "maximum"] = Field(
        default="standard",
        description="The level of questions that name none: `standard` is all settings as they are, the others change "
        "them as docs/levels.md has it.",
    )
    chain_of_thought: Literal["off", "auto", "on"] = Field(
        default="off",
        description="Have the model reason step by step before it answers, which is never shown: never, for comparisons "
        "and questions that ask for reasons, or always.",
    )
    ensemble_voting: bool = Field(
        default=False,
        description="Have the model write several drafts at once, and give the one whose statements the others agree with.",
    )
    drafts: int = Field(default=3, ge=2, le=7, description="How many drafts that are.")
    extended_thinking: bool = Field(
        default=False, description="Let a model that can do so think for long before it answers."
    )
    thinking_tokens: int = Field(
        default=4096,
        ge=1024,
        le=100_000,
        description="Tokens it may think with, where its window has the room; reasoning step by step gets a quarter of it.",
    )
    suggestions: Literal["off", "model", "checked"] = Field(
        default="checked",
        description="Questions to go on with: none; the model's, as it suggests them; or those of the model's that a search "
        "finds passages for, and where no model suggests any, some that what was found answers, made from its headings.",
    )


class Grounding(Branch):
    """How an answer is checked against its sources."""

    judge: Literal["rules", "model"] = Field(
        default="rules",
        description="Who says whether a passage supports what it is cited for: rules on words, meaning, numbers, names and "
        "negations, or after them the model as well, in one call for the whole answer. What a rule refutes stays so.",
    )


class ConfidenceRule(Branch):
    """How far an answer can be relied on."""

    rule: Literal["calibrated", "counted"] = Field(
        default="calibrated",
        description="Where the level comes from: an estimate of how likely the answer is right, or the number of passages "
        "found and their mean similarity (high: 3 and .5; medium: 2 and .3).",
    )


class Conversation(Branch):
    """What is remembered of a conversation."""

    query_rewriting_enabled: bool = Field(
        default=True, description="Turn a follow-up (`And in Germany?`) into a question that can be understood alone."
    )
    db_rehydration_enabled: bool = Field(
        default=True, description="Remember what was said before in a stored session, also after a restart."
    )
    max_history_turns: int = Field(
        default=15, ge=0, le=15, description="Turns remembered at most; small models remember fewer."
    )
    share_days: int = Field(
        default=30, ge=1, le=3650, description="Days that an answer shared by link can be opened, at most."
    )
