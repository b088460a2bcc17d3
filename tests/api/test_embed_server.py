"""The embedding server and its provider, over real HTTP with the shipped model."""

import asyncio
import threading
import time
from collections.abc import Iterator

import httpx2
import pytest
import uvicorn
from pydantic import SecretStr

from benchmarks._machines import free_port
from pincite.api.embed_server import make_embed_app, serve_embeddings
from pincite.core.protocols import Embedder
from pincite.errors import PinciteError, SettingsError
from pincite.providers import embed_server, pincite_embed

pytestmark = pytest.mark.slow
TEXTS = ["cats purr", "", "Die Katze schnurrt. 🎉", "the stock market fell", "cats purr"]
KEY = "k" * 20


@pytest.fixture(scope="module")
def local() -> Embedder:
    return pincite_embed.make_embedder(pincite_embed.Options())


@pytest.fixture(scope="module")
def url(local: Embedder) -> Iterator[str]:
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(make_embed_app(local, KEY), port=port, log_config=None))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{port}/v1"
    server.should_exit = True
    thread.join(30)


def remote(url: str, key: str = KEY) -> Embedder:
    return embed_server.make_embedder(embed_server.Options(base_url=url, api_key=SecretStr(key), batch=2))


@pytest.mark.parametrize("as_query", [True, False])
def test_the_vectors_and_the_name_are_those_of_the_local_embedder(url: str, local: Embedder, as_query: bool) -> None:
    far = remote(url)
    assert (far.name, far.dimensions, far.max_tokens, far.local) == (
        local.name,
        local.dimensions,
        local.max_tokens,
        False,
    )
    here = asyncio.run(local.embed(TEXTS, as_query=as_query))
    there = asyncio.run(far.embed(TEXTS, as_query=as_query))
    assert there == [pytest.approx(vector, abs=1e-6) for vector in here]


def test_many_clients_at_once_get_their_own_vectors(url: str, local: Embedder) -> None:
    async def go() -> None:
        texts = [f"text number {number}" for number in range(24)]
        found = await asyncio.gather(*(remote(url).embed([text], as_query=False) for text in texts))
        wanted = await local.embed(texts, as_query=False)
        assert [vectors[0] for vectors in found] == [pytest.approx(vector, abs=1e-6) for vector in wanted]

    asyncio.run(go())


def test_a_wrong_key_or_another_model_is_refused(url: str, local: Embedder) -> None:
    with pytest.raises(PinciteError, match="key"):
        asyncio.run(remote(url, "wrong").embed(["x"], as_query=False))
    with httpx2.Client(headers={"authorization": f"Bearer {KEY}"}) as client:
        told = client.post(f"{url}/embeddings", json={"model": "another/1", "input": ["x"]})
    assert told.status_code in (400, 422)
    assert local.name in told.json()["error"]["message"]


def test_without_a_key_it_listens_on_this_machine_only(local: Embedder) -> None:
    with pytest.raises(SettingsError, match="PINCITE_EMBEDDING__API_KEY"):
        asyncio.run(serve_embeddings(local, "", "0.0.0.0", 1, lambda: None))
