import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from pincite.errors import ProviderBusy, ProviderError, ProviderRefused, SettingsError
from pincite.providers.rerank_api import Options, Shape, make_reranker
from tests.model_server import ModelServer, as_json, model_server

SHAPES: tuple[Shape, ...] = ("tei", "cohere", "jina")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as started:
        yield started


def score(server: ModelServer, texts: list[str], shape: Shape = "tei", **more: Any) -> list[float]:
    options = Options(base_url=f"{server.url}/v1", shape=shape, model="m", **more)

    async def go() -> list[float]:
        reranker = make_reranker(options)
        try:
            return await reranker.score("q", texts)
        finally:
            await reranker.close()  # type: ignore[attr-defined]

    return asyncio.run(go())


def rows(shape: str, *scores: tuple[Any, Any]) -> Any:
    name = "score" if shape == "tei" else "relevance_score"
    found = [{"index": index, name: score} for index, score in scores]
    return found if shape == "tei" else {"results": found}


@pytest.mark.parametrize(
    ("shape", "body"),
    [
        ("tei", {"query": "q", "texts": ["a", " "], "truncate": True}),
        ("cohere", {"query": "q", "model": "m", "documents": ["a", " "], "top_n": 2}),
        ("jina", {"query": "q", "model": "m", "documents": ["a", " "], "top_n": 2, "return_documents": False}),
    ],
)
def test_each_shape_is_asked_as_it_wants_and_its_order_undone(server: ModelServer, shape: Shape, body: Any) -> None:
    server.replies["/v1/rerank"] = as_json(rows(shape, (1, 0.9), (0, -3)))
    assert score(server, ["a", ""], shape, api_key=SecretStr("hush")) == [-3.0, 0.9]
    [(_, sent, headers)] = server.requests
    assert sent == body
    assert headers["authorization"] == "Bearer hush"


def test_many_texts_go_in_several_requests(server: ModelServer) -> None:
    def answer(body: dict[str, Any]) -> Any:
        return as_json(rows("tei", *((n, len(text)) for n, text in enumerate(body["texts"]))))

    server.replies["/v1/rerank"] = answer
    assert score(server, ["a", "bbb", "cc"], batch=2) == [1.0, 3.0, 2.0]
    assert server.calls("/v1/rerank") == 2


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ([(0, 0.5)], "1 scores for 2 passages"),
        ([(0, 0.5), (1, 0.4), (1, 0.3)], "3 scores for 2 passages"),
        ([(0, 0.5), (0, 0.4)], "2 scores for 2 passages, not one for each"),
        ([(1, 0.5), (2, 0.4)], "not one for each"),
        ([(-1, 0.5), (0, 0.4)], "not one for each"),
        ([(0, 0.5), (1, float("nan"))], "a score that is not a number"),
        ([(0, 0.5), (1, float("-inf"))], "a score that is not a number"),
        ([(0, 0.5), (1, None)], "unreadable scores"),
        ([(0, 0.5), (1, "0.4")], "unreadable scores"),
        ([(0, 0.5), (1, True)], "unreadable scores"),
        ([(0, 0.5), (True, 0.4)], "unreadable scores"),
        ([(0, 0.5), (1.0, 0.4)], "unreadable scores"),
        ([(0, 0.5), (1, 10**400)], "unreadable scores"),
    ],
)
def test_scores_that_leave_a_text_without_its_own_are_refused(
    server: ModelServer, shape: Shape, scores: Any, words: str
) -> None:
    server.replies["/v1/rerank"] = as_json(rows(shape, *scores))
    with pytest.raises(ProviderError, match=words):
        score(server, ["a", "b"], shape)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "answer", [5, None, "x", {"id": 1}, {"results": 5}, {"results": None}, [5], [{}], {"choices": "none"}]
)
def test_an_answer_of_another_shape_points_at_the_setting(server: ModelServer, shape: Shape, answer: Any) -> None:
    server.replies["/v1/rerank"] = as_json(answer)
    with pytest.raises(ProviderError, match=r"check rerank\.shape"):
        score(server, ["a"], shape)


def test_a_refusal_says_which_shape_was_tried_and_one_of_the_moment_is_kept_apart(server: ModelServer) -> None:
    server.replies["/v1/rerank"] = as_json("missing field `texts`", 422)
    with pytest.raises(ProviderRefused, match=r"rejected the request .*\(rerank\.shape is cohere\)"):
        score(server, ["a"], "cohere")
    server.replies["/v1/rerank"] = as_json({"error": "overloaded"}, 503)
    with pytest.raises(ProviderBusy, match="overloaded"):
        score(server, ["a"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (Options(), r"rerank\.base_url must be a URL"),
        (Options(base_url="ftp://x"), r"rerank\.base_url must be a URL"),
        (Options(base_url="http://x", shape="cohere"), r"rerank\.shape=cohere needs a model"),
        (Options(base_url="http://x", shape="jina"), r"rerank\.shape=jina needs a model"),
        (Options(base_url="http://x", api_key=SecretStr("schlüssel")), r"rerank\.api_key contains invalid characters"),
    ],
)
def test_what_is_missing_is_said_at_start(options: Options, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        make_reranker(options)
