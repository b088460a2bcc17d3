"""The retriever against the real framework; skipped where the extra 'haystack' is not installed."""

import pytest

from pincite import Invalid, Pincite

pytest.importorskip("haystack", reason="the extra 'haystack' is not installed: ./run bench adapters")

from haystack import Pipeline

from pincite.adapters.haystack import PinciteRetriever


def test_it_is_a_component_of_a_pipeline(library: Pincite) -> None:
    pipeline = Pipeline()
    pipeline.add_component("retriever", PinciteRetriever(library, folder="hr"))
    [document] = pipeline.run({"retriever": {"query": "vacation days"}})["retriever"]["documents"]
    assert "Up to five vacation days carry over." in (document.content or "")
    assert document.meta["document_name"] == "leave.md"
    assert document.score is not None


def test_the_number_of_passages_may_come_with_the_query(library: Pincite) -> None:
    assert len(PinciteRetriever(library).run("five days", top_k=1)["documents"]) == 1
    with pytest.raises(Invalid, match="between 1 and 1000"):
        PinciteRetriever(library).run("five days", top_k=0)
