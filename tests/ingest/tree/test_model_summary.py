"""Summaries by a model: from the passages below, cached with the document, extractive where the model fails."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence

import pytest

from pincite.core.documents.document import Enriched
from pincite.core.engines import BuildTarget
from pincite.core.query.prompt import Prompt, StreamPart
from pincite.errors import ProviderError
from pincite.ingest.tree.build import Leaf, document_tree
from pincite.ingest.tree.model_summary import ModelSummaries

TARGET = BuildTarget("local", "d1", 7, "holder")
LEAVES = [Leaf(n, 7, f"Passage {n} speaks about the dome.", ("Handbook",), "en", [1.0, n / 10]) for n in range(3)]
TEXTS = {leaf.key: leaf.text for leaf in LEAVES}


class Writer:
    """Writes a preset summary, or fails."""

    name, window = "writer", 8000

    def __init__(self, *answers: str | Exception) -> None:
        self.answers = list(answers)
        self.prompts: list[str] = []

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        self.prompts.append(prompt.messages[0].content)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        yield StreamPart(answer)


class Cache:
    """Keeps enrichments in memory."""

    def __init__(self) -> None:
        self.kept: dict[bytes, Enriched] = {}

    async def known(self, owner: str, hashes: Sequence[bytes]) -> dict[bytes, Enriched]:
        assert owner == "local"
        return {one: self.kept[one] for one in hashes if one in self.kept}

    async def keep(self, target: BuildTarget, written: Mapping[bytes, Enriched]) -> None:
        assert target == TARGET
        self.kept |= written


async def embed(texts: Sequence[str]) -> list[list[float]]:
    return [[0.0, 2.0] for _ in texts]


def summaries(writer: Writer | None, cache: Cache) -> ModelSummaries:
    return ModelSummaries(lambda: writer, "writer", cache, embed)  # type: ignore[arg-type, return-value]


def test_the_model_summarises_the_passages_below_a_node() -> None:
    writer, cache = Writer("<think>hm</think> The dome,\n in short."), Cache()
    nodes, note = asyncio.run(summaries(writer, cache).rewrite(TARGET, document_tree(LEAVES), TEXTS))
    assert [node.text for node in nodes] == ["The dome, in short."]
    assert (nodes[0].vector.tolist(), note) == ([0.0, 1.0], "")
    assert all(text in writer.prompts[0] for text in TEXTS.values())
    assert nodes[0].terms["short"] == 1
    assert nodes[0].summary  # the sentences with their passages stay


def test_a_summary_that_was_written_before_is_not_written_again() -> None:
    cache = Cache()
    asyncio.run(summaries(Writer("First."), cache).rewrite(TARGET, document_tree(LEAVES), TEXTS))
    nodes, _ = asyncio.run(summaries(Writer(), cache).rewrite(TARGET, document_tree(LEAVES), TEXTS))
    assert nodes[0].text == "First."


@pytest.mark.parametrize("writer", [Writer(ProviderError("it is down")), Writer("  "), None])
def test_without_an_answer_the_extractive_summary_stays_and_a_note_says_so(writer: Writer | None) -> None:
    cache, extractive = Cache(), document_tree(LEAVES)
    nodes, note = asyncio.run(summaries(writer, cache).rewrite(TARGET, extractive, TEXTS))
    assert [node.text for node in nodes] == [node.text for node in extractive]
    assert note.startswith("summaries were not written by the model")
    assert cache.kept == {}
