import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from pincite.config.branches.generation import Resilience
from pincite.core.protocols import LLM, Discoverable, Embedder, Reranker, ServerModel
from pincite.core.query.prompt import Message, Prompt, StreamPart
from pincite.core.query.question import Sampling
from pincite.errors import ProviderBusy, ProviderError, ProviderRefused
from pincite.models.resilience import Clock, Policies, Timeouts
from pincite.models.resilient import FallbackLLM, ResilientEmbedder, ResilientLLM, ResilientReranker, close
from pincite.providers.scripted import Options, ScriptedEmbedder, ScriptedReranker

PROMPT = Prompt("q", (Message("user", "q"),), (), 100, Sampling(model="wished", temperature=0.1))
TIMEOUTS = Timeouts(60, 120, "llm")


async def at_once(_seconds: float) -> None:
    """Waits for nobody."""


def policies() -> Policies:
    return Policies("it", Resilience(), Clock(sleep=at_once))


class Writer:
    """Says these words; errors among them are raised."""

    def __init__(self, name: str, *words: str | Exception, window: int = 8192) -> None:
        self.name = name
        self.window = window
        self._words = words
        self.prompts: list[Prompt] = []
        self.closed = False

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        self.prompts.append(prompt)
        for word in self._words:
            if isinstance(word, Exception):
                raise word
            yield StreamPart(word)
        yield StreamPart(finish_reason="stop", model=self.name)

    async def close(self) -> None:
        self.closed = True


class HostedWriter(Writer):
    """Has a server."""

    async def discover(self) -> None:
        self.window = 4242

    async def list_models(self) -> list[ServerModel]:
        return [ServerModel(self.name)]


def written(llm: LLM) -> list[StreamPart]:
    async def go() -> list[StreamPart]:
        return [piece async for piece in llm.write(PROMPT)]

    return asyncio.run(go())


def test_a_resilient_model_is_tried_again_until_its_first_word() -> None:
    busy, cut = Writer("a", ProviderBusy("busy")), Writer("a", "half ", ProviderBusy("cut"))
    with pytest.raises(ProviderBusy, match="tried 4 times"):
        written(ResilientLLM(busy, policies(), TIMEOUTS))
    with pytest.raises(ProviderBusy, match=r"^cut$"):
        written(ResilientLLM(cut, policies(), TIMEOUTS))
    assert (len(busy.prompts), len(cut.prompts)) == (4, 1)


def test_a_resilient_model_has_the_properties_of_the_inner_model() -> None:
    inner = HostedWriter("a", "x")
    llm = ResilientLLM(inner, policies(), TIMEOUTS)
    assert isinstance(llm, LLM)
    assert isinstance(llm, Discoverable)
    asyncio.run(llm.discover())
    assert (llm.name, llm.window, asyncio.run(llm.list_models())) == ("a", 4242, [ServerModel("a")])
    asyncio.run(llm.close())
    assert inner.closed
    plain = ResilientLLM(Writer("b"), policies(), TIMEOUTS)
    asyncio.run(plain.discover())
    assert asyncio.run(plain.list_models()) == []


@pytest.mark.parametrize("error", [ProviderBusy("down"), ProviderRefused("wrong key"), ProviderError("rubbish")])
def test_the_fallback_answers_if_the_first_model_fails(error: ProviderError) -> None:
    other = Writer("spare", "All ", "of it.")
    pieces = written(FallbackLLM(Writer("main", error), other))
    assert "".join(piece.text for piece in pieces) == "All of it."
    assert [piece.note for piece in pieces] == [f"spare wrote instead of main: {error}", None, None]
    assert pieces[-1].model == "spare"
    assert other.prompts[0].sampling == Sampling(temperature=0.1)


def test_a_model_that_has_begun_is_not_replaced() -> None:
    other = Writer("spare", "x")
    with pytest.raises(ProviderError, match="cut"):
        written(FallbackLLM(Writer("main", "half", ProviderError("cut")), other))
    assert other.prompts == []


def test_a_model_that_fails_while_thinking_is_replaced() -> None:
    class Thinker(Writer):
        async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
            yield StreamPart(thought="hm")
            raise ProviderError("cut")

    pieces = written(FallbackLLM(Thinker("main"), Writer("spare", "All of it.")))
    assert "".join(piece.text for piece in pieces) == "All of it."


def test_where_both_fail_both_reasons_are_told() -> None:
    llm = FallbackLLM(Writer("main", ProviderBusy("down")), Writer("spare", ProviderRefused("wrong key")))
    with pytest.raises(ProviderError, match="down; its fallback failed too: wrong key"):
        written(llm)
    halved = FallbackLLM(Writer("main", ProviderBusy("down")), Writer("spare", "half", ProviderError("cut")))
    with pytest.raises(ProviderError, match=r"^cut$"):
        written(halved)


def test_a_prompt_too_long_for_the_other_is_not_put_to_it() -> None:
    other = Writer("spare", "x", window=100)
    with pytest.raises(ProviderError, match="down; the prompt is too long for spare"):
        written(FallbackLLM(Writer("main", ProviderBusy("down")), other))
    assert other.prompts == []


def test_a_fallback_model_has_the_properties_of_the_first_model() -> None:
    first, other = HostedWriter("main", "x"), Writer("spare")
    llm = FallbackLLM(first, other)
    assert isinstance(llm, Discoverable)
    asyncio.run(llm.discover())
    assert (llm.name, llm.window, asyncio.run(llm.list_models())) == ("main", 4242, [ServerModel("main")])
    asyncio.run(llm.close())
    assert first.closed
    assert other.closed


class Flaky(ScriptedEmbedder):
    """Busy at first."""

    calls = 0

    async def embed(self, texts: Sequence[str], *, as_query: bool) -> list[list[float]]:
        self.calls += 1
        if self.calls == 1:
            raise ProviderBusy("busy")
        return await super().embed(texts, as_query=as_query)


def test_a_resilient_embedder_is_tried_again_and_is_what_it_was() -> None:
    inner = Flaky(Options())
    embedder = ResilientEmbedder(inner, policies(), 30.0, 10)
    assert isinstance(embedder, Embedder)
    assert asyncio.run(embedder.embed(["cats"], as_query=True)) == asyncio.run(inner.embed(["cats"], as_query=True))
    assert (embedder.name, embedder.dimensions, embedder.local) == (inner.name, inner.dimensions, inner.local)
    assert embedder.windows("cats", "p ") == ["p cats"]
    asyncio.run(embedder.close())


def test_a_resilient_reranker_scores_and_fails_as_before() -> None:
    reranker = ResilientReranker(ScriptedReranker(Options()), policies(), TIMEOUTS)
    assert isinstance(reranker, Reranker)
    assert asyncio.run(reranker.score("cats purr", ["cats", "dogs"])) == [0.5, 0.0]
    with pytest.raises(ProviderError, match="down"):
        asyncio.run(ResilientReranker(ScriptedReranker(Options(fail="down")), policies(), TIMEOUTS).score("q", ["a"]))
    asyncio.run(reranker.close())


def test_closing_a_service_without_close_does_nothing() -> None:
    asyncio.run(close(None))
