import asyncio

import pytest

from pincite.core.query.prompt import StreamPart
from pincite.errors import ProviderError
from pincite.providers.scripted import Options, make_embedder, make_llm, make_reranker
from tests.builders import hit, prompt


def written(options: Options, times: int = 1) -> list[str]:
    llm = make_llm(options)

    async def once() -> str:
        pieces: list[StreamPart] = [piece async for piece in llm.write(prompt("q", hit("Cats purr.")))]
        return "".join(piece.text for piece in pieces)

    async def go() -> list[str]:
        return [await once() for _ in range(times)]

    return asyncio.run(go())


def test_answers_come_in_order_and_the_last_again() -> None:
    assert written(Options(answers=("a b", "c")), 3) == ["a b", "c", "c"]
    assert written(Options()) == ["Cats purr. [Source 1]"]


def test_it_fails_when_told() -> None:
    with pytest.raises(ProviderError, match="down"):
        written(Options(fail="down"))
    with pytest.raises(ProviderError, match="down"):
        asyncio.run(make_embedder(Options(fail="down")).embed(["a"], as_query=True))
    with pytest.raises(ProviderError, match="down"):
        asyncio.run(make_reranker(Options(fail="down")).score("a", ["b"]))


def test_texts_that_share_words_are_near() -> None:
    async def go() -> list[list[float]]:
        return await make_embedder(Options()).embed(["cats purr", "purr cats", "stock market"], as_query=False)

    same, again, other = asyncio.run(go())
    assert same == again
    assert sum(a * b for a, b in zip(same, other, strict=True)) < 0.9


def test_windows_cover_a_long_text() -> None:
    text = " ".join(f"w{n}" for n in range(950))
    windows = make_embedder(Options()).windows(text, "p ")
    assert all(window.startswith("p ") for window in windows)
    assert {word for window in windows for word in window[2:].split()} == set(text.split())
