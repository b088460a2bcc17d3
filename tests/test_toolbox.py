import asyncio
from typing import Any

import pytest

from pincite.core.protocols import Index
from pincite.errors import SettingsError
from pincite.layers import load_settings
from pincite.providers.scripted import Options, ScriptedEmbedder
from pincite.settings import Settings
from pincite.steady import FallbackLLM, SteadyEmbedder, SteadyLLM
from pincite.toolbox import Toolbox, address_of, make_embedder, provider_of

NO_INDEX: Index = None  # type: ignore[assignment]
SERVER = {"llm__base_url": "http://ann:hush@127.0.0.1:9/v1", "llm__model": "m"}


def chosen(**settings: Any) -> Settings:
    return load_settings({key.replace("__", "."): value for key, value in settings.items()}, env={})


def toolbox() -> Toolbox:
    return Toolbox(NO_INDEX, ScriptedEmbedder(Options()))


def test_without_a_model_code_answers() -> None:
    kit = toolbox().kit(chosen())
    assert kit.llm is kit.extractive
    assert kit.reranker is None


def test_a_model_gets_the_policies_around_it_and_its_fallback_behind_it() -> None:
    assert isinstance(toolbox().kit(chosen(**SERVER)).llm, SteadyLLM)
    both = chosen(**SERVER, llm__fallback__provider="ollama", llm__fallback__model="llama3.2")
    llm = toolbox().kit(both).llm
    assert isinstance(llm, FallbackLLM)
    assert llm.name == "m"


def test_equal_choices_share_a_kit_and_others_do_not() -> None:
    box = toolbox()
    one = box.kit(chosen(**SERVER))
    assert box.kit(chosen(**SERVER, rag__top_k=3)) is one
    assert box.kit(chosen(**SERVER, llm__temperature=0.9)) is not one
    assert box.kit(chosen(**SERVER, llm__api_key="other")) is not one


def test_kits_nobody_can_be_using_are_closed_and_others_are_not() -> None:
    async def go() -> list[str]:
        closed: list[str] = []
        box = toolbox()

        def watched(name: str, **settings: Any) -> None:
            llm = box.kit(chosen(**{**SERVER, "llm__model": name}, **settings)).llm

            async def close() -> None:
                closed.append(name)

            llm.close = close  # type: ignore[attr-defined]

        watched("short", llm__question_timeout_s=0.001)
        watched("long")
        await asyncio.sleep(0.01)
        watched("third")
        await asyncio.sleep(0)
        before = list(closed)
        await box.close()
        assert sorted(closed) == ["long", "short", "third"]
        return before

    assert asyncio.run(go()) == ["short"]


def test_a_provider_that_cannot_be_made_is_told_at_once() -> None:
    with pytest.raises(SettingsError, match="there is no llm called 'nobody'"):
        toolbox().kit(chosen(llm__provider="nobody"))
    with pytest.raises(SettingsError, match=r"llm\.fallback\.base_url"):
        toolbox().kit(chosen(**SERVER, llm__fallback__provider="openai_compatible"))


def test_where_a_model_is_told_without_its_login() -> None:
    assert address_of(chosen(**SERVER).llm) == "http://127.0.0.1:9/v1"
    assert address_of(chosen(llm__provider="ollama").llm) == "http://127.0.0.1:11434"
    assert address_of(chosen(llm__provider="nobody").llm) == ""
    assert provider_of(chosen().llm) == "extractive"


def test_an_embedder_elsewhere_gets_the_policies_around_it() -> None:
    assert isinstance(make_embedder(chosen(embedding__provider="scripted")), SteadyEmbedder)
