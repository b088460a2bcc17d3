"""What every embedder in the folder must do."""

import asyncio
import math
from collections.abc import Iterator

import pytest

from pincite import plugins
from pincite.core.protocols import Embedder
from tests.model_server import ModelServer, model_server

NAMES = plugins.names("pincite.providers", "make_embedder")
TEXTS = ["cats purr", "", "Die Katze schnurrt. 🎉", "the stock market fell", "cats purr"]


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with model_server() as started:
        yield started


@pytest.fixture(
    scope="module",
    params=[pytest.param(n, marks=[pytest.mark.slow] if n in ("minilm", "pincite_embed") else []) for n in NAMES],
)
def embedder(request: pytest.FixtureRequest, server: ModelServer) -> Embedder:
    if request.param == "embed_server":
        pytest.skip("it is tried with its own server, in tests/api/test_embed_server.py")
    settings = {"base_url": f"{server.url}/v1", "model": "m", "dimensions": 8} if request.param != "scripted" else {}
    return plugins.load(Embedder, "pincite.providers", request.param, settings)


def embed(embedder: Embedder, texts: list[str], as_query: bool = False) -> list[list[float]]:
    return asyncio.run(embedder.embed(texts, as_query=as_query))


def test_there_are_some() -> None:
    assert {"minilm", "pincite_embed", "ollama", "openai_compatible", "scripted"} <= set(NAMES)


def test_it_says_what_it_is(embedder: Embedder) -> None:
    assert "/" in embedder.name
    assert embedder.dimensions > 0
    assert embedder.max_tokens > 0
    assert isinstance(embedder.local, bool)


@pytest.mark.parametrize("as_query", [True, False])
def test_unit_vectors_in_order(embedder: Embedder, as_query: bool) -> None:
    vectors = embed(embedder, TEXTS, as_query)
    assert [len(vector) for vector in vectors] == [embedder.dimensions] * len(TEXTS)
    assert all(math.isclose(math.hypot(*vector), 1.0, rel_tol=1e-3) for vector in vectors)
    assert vectors[0] == vectors[-1] != vectors[3]
    assert embed(embedder, [], as_query) == []


def test_a_texts_vector_does_not_depend_on_its_company(embedder: Embedder) -> None:
    [alone] = embed(embedder, [TEXTS[2]])
    assert embed(embedder, [*TEXTS, "x " * 100])[2] == alone


def test_windows_lose_nothing_and_are_led_by_the_prefix(embedder: Embedder) -> None:
    text = " ".join(f"word{n}" for n in range(6000))
    windows = embedder.windows(text, "title: ")
    assert len(windows) > 1
    assert all(window.startswith("title: ") for window in windows)
    seen = {word for window in windows for word in window.removeprefix("title: ").split()}
    assert {f"word{n}" for n in range(6000)} <= seen
    assert embedder.windows("short", "p ") == ["p short"]


def test_windows_can_be_embedded(embedder: Embedder) -> None:
    windows = embedder.windows("some words of a long text " * 400)
    assert len(embed(embedder, windows)) == len(windows)
