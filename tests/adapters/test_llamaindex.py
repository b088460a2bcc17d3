"""The retriever against the real framework; skipped where the extra 'llamaindex' is not installed."""

import pytest

from pincite import Invalid, Pincite

pytest.importorskip("llama_index.core", reason="the extra 'llamaindex' is not installed: ./run bench adapters")

import asyncio

from pincite.adapters.llamaindex import PinciteRetriever


def test_it_finds_passages_with_their_place_and_score(library: Pincite) -> None:
    retriever = PinciteRetriever(library, folder="hr", top_k=3)
    for found in (retriever.retrieve("vacation days"), asyncio.run(retriever.aretrieve("vacation days"))):
        [one] = found
        assert "Up to five vacation days carry over." in one.node.get_content()
        assert one.node.metadata["document_name"] == "leave.md"
        assert one.score is not None


def test_wrong_options_are_named(library: Pincite) -> None:
    with pytest.raises(Invalid, match="there are: auto"):
        PinciteRetriever(library, strategy="best").retrieve("x")
