"""What a call of a model is told as in a trace: OpenTelemetry's names for generative AI, and no words."""

from typing import Any

from pincite.core.query.prompt import Draft, Prompt


def embedding(provider: str, model: str, texts: int = 0) -> dict[str, Any]:
    """The call of an embedder; a model is named with its variant."""
    return {
        "gen_ai.operation.name": "embeddings",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model,
        "texts": texts,
    }


def asked(provider: str, prompt: Prompt, model: str) -> dict[str, Any]:
    """What a model is asked for; wishes the caller did not have are not told."""
    wish = prompt.sampling
    told = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": wish.model or model,
        "gen_ai.request.temperature": wish.temperature,
        "gen_ai.request.top_p": wish.top_p,
        "gen_ai.request.max_tokens": wish.max_tokens,
        "prompt_tokens": prompt.tokens,
        "sources": len(prompt.sources),
    }
    return {name: value for name, value in told.items() if value is not None}


def written(draft: Draft, first_token_ms: float | None) -> dict[str, Any]:
    """What came back."""
    told = {
        "gen_ai.response.model": draft.model,
        "gen_ai.response.finish_reasons": [draft.finish_reason] if draft.finish_reason else None,
        "gen_ai.usage.input_tokens": draft.usage.prompt_tokens if draft.usage else None,
        "gen_ai.usage.output_tokens": draft.usage.completion_tokens if draft.usage else None,
        "first_token_ms": None if first_token_ms is None else round(first_token_ms, 3),
        "characters": len(draft.text),
    }
    return {name: value for name, value in told.items() if value is not None}
