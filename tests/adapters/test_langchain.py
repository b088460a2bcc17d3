"""The retriever against the real framework; skipped where the extra 'langchain' is not installed."""

import pytest

from pincite import Invalid, Pincite

pytest.importorskip("langchain_core", reason="the extra 'langchain' is not installed: ./run bench adapters")

import asyncio

from pincite.adapters.langchain import PinciteRetriever


def test_it_finds_passages_with_their_place(library: Pincite) -> None:
    retriever = PinciteRetriever(library=library, options={"folder": "hr"})
    for found in (retriever.invoke("vacation days"), asyncio.run(retriever.ainvoke("vacation days"))):
        [document] = found
        assert "Up to five vacation days carry over." in document.page_content
        assert document.metadata["document_name"] == "leave.md"


def test_it_is_part_of_a_chain(library: Pincite) -> None:
    from langchain_core.runnables import RunnableLambda

    chain = PinciteRetriever(library=library) | RunnableLambda(lambda found: found[0].metadata["title"])
    assert chain.invoke("cats food") == "Cats"


def test_wrong_options_are_named(library: Pincite) -> None:
    with pytest.raises(Invalid, match="there are: auto"):
        PinciteRetriever(library=library, options={"strategy": "best"}).invoke("x")
