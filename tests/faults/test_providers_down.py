"""A model that is unavailable: the fallback or the extractive answerer takes over, and the answer reports it."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pincite.core.query.answer import Answer
from tests.model_server import ModelServer, Reply, as_json, model_server
from tests.steady_clock import now

CATS = "# Cats\n\nCats purr when they are content. They sleep for sixteen hours a day.\n"
NOWHERE = "http://127.0.0.1:9/v1"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server("Cats purr when they are content. ", "[Source 1]") as started:
        yield started


@pytest.fixture
def ask(open_pincite: Callable[..., Any], tmp_path: Path) -> Callable[..., Answer]:
    (tmp_path / "cats.md").write_text(CATS, encoding="utf-8")

    def asked(**settings: Any) -> Answer:
        async def go() -> Answer:
            async with open_pincite(resilience__backoff_s=0, **settings) as pincite:
                await pincite.add(tmp_path / "cats.md")
                answer: Answer = await pincite.ask("Why do cats purr?")
                return answer

        return asyncio.run(go())

    return asked


def reasons(answer: Answer) -> str:
    return "; ".join(f"{note.stage}: {note.reason}" for note in answer.degraded)


def test_with_only_an_address_the_servers_model_answers(ask: Callable[..., Answer], server: ModelServer) -> None:
    answer = ask(llm__base_url=f"{server.url}/v1")
    assert (answer.text, answer.metadata.model) == ("Cats purr when they are content. [Source 1]", "m-1")
    assert answer.degraded == ()
    assert server.calls("/v1/models") == 1


@pytest.mark.parametrize("status", [401, 404, 429, 500])
def test_if_the_server_refuses_the_answer_is_extractive_with_sources(
    ask: Callable[..., Answer], server: ModelServer, status: int
) -> None:
    server.replies["/v1/chat/completions"] = as_json({"error": {"message": "no model for you"}}, status)
    answer = ask(llm__base_url=f"{server.url}/v1", llm__model="m", llm__window=8000)
    assert "purr when they are content" in answer.text
    assert answer.sources
    assert answer.metadata.model == "extractive"
    assert f"HTTP {status}" in reasons(answer)
    assert [note.stage for note in answer.degraded] == ["llm_generation"]
    assert server.calls("/v1/chat/completions") == (4 if status >= 429 else 1)


def test_an_unreachable_server_is_reported_and_skipped(ask: Callable[..., Answer]) -> None:
    answer = ask(llm__base_url=NOWHERE)
    assert "cannot be reached" in reasons(answer)
    assert "purr when they are content" in answer.text


def test_a_server_that_hangs_is_abandoned_after_the_timeout(ask: Callable[..., Answer], server: ModelServer) -> None:
    server.replies["/v1/chat/completions"] = Reply((), hangs=True)
    answer = ask(
        llm__base_url=f"{server.url}/v1", llm__model="m", llm__first_token_timeout_s=0.2, resilience__retries=1
    )
    assert "sent nothing within 0.2 s" in reasons(answer)
    assert server.left_early.wait(3)
    assert server.calls("/v1/chat/completions") == 2


def test_the_fallback_model_answers_and_is_named_with_the_reason(
    ask: Callable[..., Answer], server: ModelServer
) -> None:
    answer = ask(
        llm__base_url=NOWHERE,
        llm__model="main",
        llm__fallback__base_url=f"{server.url}/v1",
        llm__fallback__model="spare",
    )
    assert answer.text == "Cats purr when they are content. [Source 1]"
    assert answer.metadata.model == "m-1"
    assert "llm_generation: spare wrote instead of main: http://127.0.0.1:9/v1 cannot be reached" in reasons(answer)
    assert server.requests[-1][1]["model"] == "spare"


@pytest.mark.parametrize("said", [(), (b'data: {"choices": [{"delta": {"content": "Cats "}}]}\n\n',)])
def test_a_cancelled_question_closes_the_connection_to_the_model(
    open_pincite: Callable[..., Any], tmp_path: Path, server: ModelServer, said: tuple[bytes, ...]
) -> None:
    (tmp_path / "cats.md").write_text(CATS, encoding="utf-8")
    server.replies["/v1/chat/completions"] = Reply(said, hangs=True)

    async def go() -> float:
        async with open_pincite(llm__base_url=f"{server.url}/v1", llm__model="m", llm__window=8000) as pincite:
            await pincite.add(tmp_path / "cats.md")
            asking = asyncio.create_task(pincite.ask("Why do cats purr?"))
            assert await asyncio.to_thread(server.asked.wait, 60)
            stopped = now()
            asking.cancel()
            assert await asyncio.to_thread(server.left_early.wait, 30)
            took = now() - stopped
            await asyncio.gather(asking, return_exceptions=True)
            return took

    assert asyncio.run(go()) < 3
