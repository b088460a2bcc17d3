import asyncio
import re
import tomllib
from dataclasses import fields
from importlib import resources

import pytest

from pincite.core.protocols import ServerModel
from pincite.errors import ProviderBusy, ProviderRefused
from pincite.models import facts as models
from pincite.models.facts import ModelFacts, ServerModelInfo, facts_of


@pytest.mark.parametrize(
    ("model", "window", "temperature", "top_p"),
    [
        ("llama3.2:latest", 8000, 0.3, 0.7),
        ("llama3.1:latest", 8000, 0.5, 0.8),
        ("mistral:latest", 8000, 0.5, 0.8),
        ("qwen2.5:latest", 32_000, 0.7, 0.95),
        ("gpt-4", 128_000, 0.7, 0.9),
        ("claude-3-opus", 200_000, 0.7, 0.9),
    ],
)
def test_the_model_table_has_the_expected_values(model: str, window: int, temperature: float, top_p: float) -> None:
    facts = facts_of(model)
    assert (facts.window, facts.temperature, facts.top_p) == (window, temperature, top_p)
    assert facts.quote_first is (model == "llama3.2:latest")


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("llama3.2:3b-instruct-q4_K_M", "llama3.2"),
        ("meta-llama/Llama-3.2-1B-Instruct", "llama3.2"),
        ("llama-3.1-8b-instant", "llama3.1"),
        ("llama-3.3-70b-versatile", "llama3.3"),
        ("Meta-Llama-3-8B-Instruct", "llama3"),
        ("mistralai/Mistral-7B-Instruct-v0.3", "mistral"),
        ("mistral-nemo:12b", "mistral-nemo"),
        ("mixtral-8x7b-32768", "mixtral"),
        ("Qwen/Qwen2.5-7B-Instruct", "qwen2.5"),
        ("qwen3:8b", "qwen3"),
        ("Qwen3-30B-A3B-Instruct-2507", "qwen3-2507"),
        ("openai/gpt-4o-mini", "gpt-4"),
        ("gpt-4.1-nano", "gpt-4.1"),
        ("gpt-5-mini", "gpt-5"),
        ("gpt-oss:20b", "gpt-oss"),
        ("o3-mini", "o-series"),
        ("claude-3-5-sonnet-20241022", "claude-3"),
        ("anthropic/claude-sonnet-4.5", "claude-4"),
        ("deepseek-r1:14b", "deepseek-r1"),
        ("SmolLM2-135M-Instruct", "smollm2"),
        ("olmo-2", ""),
        ("http://127.0.0.1:8080/v1", ""),
        ("", ""),
    ],
)
def test_a_family_is_known_under_all_its_names(model: str, family: str) -> None:
    assert facts_of(model).family == family


@pytest.mark.parametrize(
    ("model", "tier"),
    [
        ("llama3.2:1b", "up_to_3b"),
        ("llama3.2", "up_to_3b"),
        ("smollm2:135m", "up_to_3b"),
        ("anything-3B", "up_to_3b"),
        ("phi-4-mini", "3b_to_9b"),
        ("qwen3", "3b_to_9b"),
        ("gemma-2-9b-it", "3b_to_9b"),
        ("qwen2.5:14b", "9b_to_34b"),
        ("anything-34b", "9b_to_34b"),
        ("mixtral-8x7b", "over_34b"),
        ("llama3.3", "over_34b"),
        ("gpt-4o", "over_34b"),
        ("claude-3-opus", "over_34b"),
        ("olmo-2", "unknown"),
        ("phi-3-mini-4k-instruct", "3b_to_9b"),
    ],
)
def test_the_tier_is_told_by_the_size_in_the_name_or_the_familys(model: str, tier: str) -> None:
    assert facts_of(model).tier == tier


def test_what_is_special_about_some() -> None:
    assert (facts_of("qwen3:4b").greedy, facts_of("qwen3:4b").no_thinking) == (False, "/no_think")
    assert (facts_of("qwen2.5").greedy, facts_of("qwen2.5").no_thinking) == (True, "")
    assert (facts_of("o4-mini").sampling, facts_of("claude-opus-4-1").sampling) == ("none", "one")
    assert facts_of("olmo-2") == ModelFacts()


@pytest.mark.parametrize(
    ("model", "way"),
    [
        ("gpt-4o", ""),
        ("gpt-5-mini", "effort"),
        ("o3", "effort"),
        ("gpt-oss:20b", "effort"),
        ("qwen3:8b", "switch"),
        ("deepseek-r1:7b", "always"),
        ("claude-3-5-sonnet-20241022", ""),
        ("claude-3-7-sonnet-20250219", "budget"),
        ("claude-opus-4-20250514", "budget"),
        ("anthropic/claude-sonnet-4.5", "budget"),
        ("claude-opus-4-6", "adaptive"),
        ("claude-opus-4-7", "adaptive"),
        ("claude-4.7-opus", "adaptive"),
        ("llama3.1", ""),
        ("stub-1", ""),
    ],
)
def test_how_a_model_is_made_to_think_is_known_by_its_name(model: str, way: str) -> None:
    assert facts_of(model).thinking == way


def test_every_row_of_the_table_can_be_read() -> None:
    rows = tomllib.loads((resources.files("pincite.models") / "models.toml").read_text(encoding="utf-8"))["model"]
    known = {field.name for field in fields(ModelFacts)} | {"pattern", "billions"}
    for row in rows:
        assert set(row) <= known, row["family"]
        assert re.compile(row["pattern"])
        assert row.get("window", 512) >= 512
        assert "tier" not in row or "billions" not in row
        assert 0 <= row.get("temperature", 0) <= 2


class Hotel:
    """Offers what it is told to, and counts who asks."""

    def __init__(self, *offers: ServerModel) -> None:
        self.offered = list(offers)
        self.asked = 0
        self.closed = False

    async def __call__(self) -> list[ServerModel]:
        self.asked += 1
        if self.closed:
            raise ProviderBusy("closed")
        return self.offered


def test_the_server_is_not_asked_if_settings_or_table_know() -> None:
    hotel = Hotel(ServerModel("m", 1000))
    for known in (ServerModelInfo("m", 4000, hotel), ServerModelInfo("gpt-4", 0, hotel)):
        asyncio.run(known.discover())
    assert hotel.asked == 0
    assert ServerModelInfo("gpt-4", 4000, hotel).window == 4000


def test_a_server_is_asked_once_which_model_it_has_and_what_that_sees() -> None:
    hotel = Hotel(ServerModel("first", 1000), ServerModel("second", 2000))
    nameless, named = ServerModelInfo("", 0, hotel), ServerModelInfo("second", 0, hotel)
    for known in (nameless, nameless, named, named):
        asyncio.run(known.discover())
    assert [(known.model, known.window) for known in (nameless, named)] == [("first", 1000), ("second", 2000)]
    assert hotel.asked == 2


def test_a_server_that_does_not_answer_is_not_asked_again_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    hotel = Hotel(ServerModel("m", 1000))
    hotel.closed = True
    known = ServerModelInfo("", 0, hotel)
    asyncio.run(known.discover())
    asyncio.run(known.discover())
    assert (known.model, known.window, hotel.asked) == ("", models.DEFAULT_WINDOW, 1)
    hotel.closed = False
    monkeypatch.setattr(models, "DISCOVERY_RETRY_S", -1.0)
    known._again_at = 0.0
    asyncio.run(known.discover())
    assert (known.model, known.window) == ("m", 1000)


def test_writing_asks_the_server_again_and_raises_its_error() -> None:
    hotel = Hotel(ServerModel("m"))
    hotel.closed = True
    known = ServerModelInfo("", 0, hotel)
    asyncio.run(known.discover())
    with pytest.raises(ProviderBusy):
        asyncio.run(known.name("it", "llm"))
    hotel.closed = False
    assert asyncio.run(known.name("it", "llm")) == "m"
    with pytest.raises(ProviderRefused, match=r"set llm\.fallback\.model"):
        asyncio.run(ServerModelInfo("", 0, Hotel()).name("it", "llm.fallback"))


def test_a_server_that_answered_is_not_asked_again_whatever_it_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "DISCOVERY_RETRY_S", -1.0)
    hotel = Hotel(ServerModel("other", 1000))
    known = ServerModelInfo("m", 0, hotel)
    for _ in range(3):
        asyncio.run(known.discover())
    assert (known.window, hotel.asked) == (models.DEFAULT_WINDOW, 1)


def test_a_known_model_name_does_not_wait_for_discovery() -> None:
    async def go() -> None:
        asked, go_on = asyncio.Event(), asyncio.Event()

        async def offers() -> list[ServerModel]:
            asked.set()
            await go_on.wait()
            return [ServerModel("m", 1000)]

        known = ServerModelInfo("m", 0, offers)
        asking = asyncio.create_task(known.discover())
        await asked.wait()
        await asyncio.wait_for(known.discover(), 5)
        assert not asking.done()
        go_on.set()
        await asking
        assert known.window == 1000

    asyncio.run(go())
