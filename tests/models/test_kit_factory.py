import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from pincite.config.settings import Settings
from pincite.config.sources import load_settings
from pincite.core.protocols import Index
from pincite.errors import SettingsError
from pincite.models.kit_factory import (
    KitFactory,
    address_of,
    first_token_timeout_s,
    make_embedder,
    provider_of,
    rerank_address,
)
from pincite.models.resilient import FallbackLLM, ResilientEmbedder, ResilientLLM, ResilientReranker
from pincite.providers import cross_encoder
from pincite.providers.scripted import Options, ScriptedEmbedder
from tests.cross_encoder_maker import make_cross_encoder

NO_INDEX: Index = None  # type: ignore[assignment]
SERVER = {"llm__base_url": "http://ann:hush@127.0.0.1:9/v1", "llm__model": "m"}


def chosen(**settings: Any) -> Settings:
    return load_settings({key.replace("__", "."): value for key, value in settings.items()}, env={})


def toolbox() -> KitFactory:
    return KitFactory(NO_INDEX, ScriptedEmbedder(Options()))


def test_without_a_model_the_extractive_answerer_is_used() -> None:
    kit = toolbox().kit(chosen())
    assert kit.llm is kit.extractive
    assert kit.reranker is None


def test_a_model_gets_its_policies_and_its_fallback() -> None:
    assert isinstance(toolbox().kit(chosen(**SERVER)).llm, ResilientLLM)
    both = chosen(**SERVER, llm__fallback__provider="ollama", llm__fallback__model="llama3.2")
    llm = toolbox().kit(both).llm
    assert isinstance(llm, FallbackLLM)
    assert llm.name == "m"


@pytest.mark.parametrize(
    ("settings", "first_s"),
    [
        ({"llm__base_url": "http://127.0.0.1:8080/v1"}, 120),
        ({"llm__base_url": "http://localhost:1234/v1"}, 120),
        ({"llm__base_url": "http://[::1]:8080/v1"}, 120),
        ({"llm__provider": "ollama"}, 120),
        ({"llm__provider": "llama", "llm__path": "model.gguf"}, 120),
        ({"llm__base_url": "http://127.0.0.1:8080/v1", "llm__timeout_s": 400}, 400),
        ({"llm__base_url": "http://127.0.0.1:8080/v1", "llm__first_token_timeout_s": 7}, 7),
        ({"llm__base_url": "https://api.openai.com/v1"}, 60),
        ({"llm__provider": "ollama", "llm__base_url": "http://192.168.0.7:11434"}, 60),
        ({"llm__provider": "anthropic"}, 60),
        ({"llm__base_url": "https://api.openai.com/v1", "llm__first_token_timeout_s": 7}, 7),
    ],
)
def test_the_first_token_of_a_model_on_this_machine_may_take_a_whole_call(
    settings: dict[str, Any], first_s: float
) -> None:
    llm = chosen(**settings).llm
    assert first_token_timeout_s(llm, llm) == first_s


def test_a_fallback_on_this_machine_has_its_own_timeout() -> None:
    llm = chosen(llm__base_url="https://api.openai.com/v1", llm__fallback__provider="ollama").llm
    assert (first_token_timeout_s(llm, llm), first_token_timeout_s(llm, llm.fallback)) == (60, 120)


def test_equal_choices_share_a_kit_and_others_do_not() -> None:
    box = toolbox()
    one = box.kit(chosen(**SERVER))
    assert box.kit(chosen(**SERVER, rag__top_k=3)) is one
    assert box.kit(chosen(**SERVER, llm__temperature=0.9, llm__top_p=0.5, llm__max_tokens=7)) is one
    assert box.kit(chosen(**SERVER, llm__window=9000)) is not one
    assert box.kit(chosen(**SERVER, llm__api_key="other")) is not one


def test_only_unused_kits_are_closed() -> None:
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


def test_a_provider_that_cannot_be_created_is_an_immediate_error() -> None:
    with pytest.raises(SettingsError, match="there is no llm called 'nobody'"):
        toolbox().kit(chosen(llm__provider="nobody"))
    with pytest.raises(SettingsError, match=r"llm\.fallback\.base_url"):
        toolbox().kit(chosen(**SERVER, llm__fallback__provider="openai_compatible"))


def test_a_reranker_gets_its_settings_and_policies(tmp_path: Path) -> None:
    server = {"rag__reranker": "rerank_api", "rerank__base_url": "http://ann:hush@127.0.0.1:9"}
    box = toolbox()
    one = box.kit(chosen(**server))
    assert isinstance(one.reranker, ResilientReranker)
    assert box.kit(chosen(**server, rag__rerank_top=3)) is one
    assert box.kit(chosen(**server, rerank__timeout_s=3)) is not one
    assert rerank_address(chosen(**server)) == "http://127.0.0.1:9"
    assert rerank_address(chosen(rerank__base_url="http://127.0.0.1:9")) == ""
    with pytest.raises(SettingsError, match=r"set rerank\.model"):
        box.kit(chosen(**server, rerank__shape="jina"))
    with pytest.raises(SettingsError, match=r"there is no model\.onnx in"):
        box.kit(chosen(rag__reranker="cross_encoder", rerank__path=str(tmp_path)))


def test_a_kit_that_needs_a_model_loads_it_in_a_thread_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = chosen(rag__reranker="cross_encoder", rerank__path=make_cross_encoder(tmp_path))
    loaded: list[threading.Thread] = []
    opened = cross_encoder._open_session

    def watched(file: Path) -> Any:
        loaded.append(threading.current_thread())
        return opened(file)

    async def go() -> None:
        box = toolbox()
        kit = await box.ready(settings)
        assert await box.ready(settings) is kit
        assert kit.reranker is not None
        assert len(await kit.reranker.score("why cats purr", ["cats", "dogs"])) == 2
        await box.close()

    monkeypatch.setattr(cross_encoder, "_open_session", watched)
    asyncio.run(go())
    assert len(loaded) == 1
    assert loaded[0] is not threading.main_thread()


def test_the_address_of_a_model_is_shown_without_its_login() -> None:
    assert address_of(chosen(**SERVER).llm) == "http://127.0.0.1:9/v1"
    assert address_of(chosen(llm__provider="ollama").llm) == "http://127.0.0.1:11434"
    assert address_of(chosen(llm__provider="nobody").llm) == ""
    assert provider_of(chosen().llm) == "extractive"


def test_a_remote_embedder_gets_the_policies() -> None:
    assert isinstance(make_embedder(chosen(embedding__provider="scripted")), ResilientEmbedder)
