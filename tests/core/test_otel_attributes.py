"""Calls of models have OpenTelemetry's names, and no words."""

from pincite.core.otel_attributes import asked, embedding, written
from pincite.core.query.prompt import Draft, Message, Prompt, Usage
from pincite.core.query.question import Sampling


def test_what_was_asked_for_is_told_without_its_words() -> None:
    wish = Sampling(model="big", temperature=0.0, max_tokens=50, stop=("secret",), system_prompt="secret")
    told = asked("ollama", Prompt("secret?", (Message("user", "secret"),), (), 321, wish), "small")
    assert told == {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "ollama", "gen_ai.request.model": "big",
        "gen_ai.request.temperature": 0.0, "gen_ai.request.max_tokens": 50, "prompt_tokens": 321, "sources": 0,
    }  # fmt: skip
    assert asked("ollama", Prompt("q", (), (), 1), "small")["gen_ai.request.model"] == "small"


def test_what_came_back_is_told_without_its_words() -> None:
    assert written(Draft("secret", "m", "stop", Usage(10, 2)), 1.23456) == {
        "gen_ai.response.model": "m", "gen_ai.response.finish_reasons": ["stop"], "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 2, "first_token_ms": 1.235, "characters": 6,
    }  # fmt: skip
    assert written(Draft("", None, None), None) == {"characters": 0}


def test_an_embedder_is_told_with_how_much_it_embeds() -> None:
    assert embedding("minilm", "minilm-l6-v2/int8", 3) == {
        "gen_ai.operation.name": "embeddings", "gen_ai.provider.name": "minilm",
        "gen_ai.request.model": "minilm-l6-v2/int8", "texts": 3,
    }  # fmt: skip
