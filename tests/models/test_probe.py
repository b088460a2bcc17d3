import asyncio

import pytest

from pincite.models import probe
from pincite.models.probe import probe_embedder, probe_llm, probe_reranker
from pincite.outbound.llm.hosted import Options as ServedOptions
from pincite.providers.openai_compatible import make_llm
from pincite.providers.scripted import Options, ScriptedEmbedder, ScriptedLLM, ScriptedReranker
from tests.model_server import Reply, as_json, model_server


def test_a_model_that_answers_is_timed_and_measured() -> None:
    with model_server("yes") as server:
        server.replies["/v1/models"] = as_json({"data": [{"id": "m", "max_model_len": 4096}]})
        tried = asyncio.run(probe_llm(make_llm(ServedOptions(base_url=f"{server.url}/v1"))))
        other = asyncio.run(probe_llm(make_llm(ServedOptions(base_url=f"{server.url}/v1")), "gpt-4"))
    assert (tried.model, tried.window, tried.error) == ("m-1", 4096, "")
    assert tried.first_token_ms is not None
    assert 0 < tried.first_token_ms <= tried.latency_ms
    assert (server.requests[-1][1]["model"], other.window) == ("gpt-4", 128_000)


def test_why_a_model_does_not_answer_is_told() -> None:
    tried = asyncio.run(probe_llm(ScriptedLLM(Options(fail="no such model"))))
    assert (tried.error, tried.code, tried.first_token_ms) == ("no such model", "provider_error", None)


def test_a_probe_has_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "PROBE_TIMEOUT_S", 0.1)
    with model_server() as server:
        server.replies["/v1/chat/completions"] = Reply((), hangs=True)
        tried = asyncio.run(probe_llm(make_llm(ServedOptions(base_url=f"{server.url}/v1", model="m", window=1000))))
    assert (tried.error, tried.code) == ("no answer within 0.1 s", "timeout")


def test_an_embedder_is_tried_too() -> None:
    tried = asyncio.run(probe_embedder(ScriptedEmbedder(Options())))
    assert (tried.model, tried.dimensions, tried.error) == ("scripted/1", 64, "")
    assert asyncio.run(probe_embedder(ScriptedEmbedder(Options(fail="down")))).error == "down"


def test_a_reranker_is_tried_too() -> None:
    assert asyncio.run(probe_reranker(ScriptedReranker(Options()))).error == ""
    tried = asyncio.run(probe_reranker(ScriptedReranker(Options(fail="down"))))
    assert (tried.error, tried.code) == ("down", "provider_error")
