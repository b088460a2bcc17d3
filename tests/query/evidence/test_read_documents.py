"""Whole documents for summaries, comparisons and lists."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pincite.core.documents.document import ReadRequest
from pincite.core.protocols import DocumentExtract
from pincite.core.query.hits import Hit, RetrievedChunk
from pincite.core.run import Run
from pincite.errors import NotFound
from pincite.query.evidence.read_documents import (
    MAX_PASSAGES,
    NOTHING_OPENED,
    OpenedPassages,
    document_reading,
    needs_documents,
    with_opened,
)
from tests.builders import found, hit, plan
from tests.query.conftest import MemoryIndex


class Shelf:
    """Reads the documents of an index; `gone` are those that the caller may not read."""

    def __init__(self, chunks: Sequence[RetrievedChunk], gone: str = "") -> None:
        self.chunks, self.gone = chunks, gone

    async def read(self, reading: ReadRequest, **_: Any) -> DocumentExtract:
        if reading.document_id == self.gone:
            raise NotFound("not found")
        own = tuple(chunk for chunk in self.chunks if chunk.document_id == reading.document_id)
        return DocumentExtract(reading.document_id or "", "v1", "", own, 1, 9, 9)


def chunk(document: str, n: int, heading: str, title: str) -> RetrievedChunk:
    return found(
        f"{heading} {n}", key=100 * ord(document) + n, document_id=document, document_name=f"{title.lower()}.md",
        title=title, heading_path=(title, heading),
    )  # fmt: skip


LIBRARY = [
    *(chunk("a", n, heading, "Travel policy") for n, heading in enumerate(("Hotels", "Trains", "Claims"))),
    *(chunk("b", n, heading, "Lease Quay 3") for n, heading in enumerate(("Rent", "Term"))),
    *(chunk("c", n, heading, "Lease Quay 9") for n, heading in enumerate(("Rent", "Term"))),
]


def opened(
    make_run: Callable[..., Run],
    question: str,
    hits: Sequence[Hit] = (),
    chunks: Sequence[RetrievedChunk] = LIBRARY,
    **more: Any,
) -> OpenedPassages:
    run = make_run()
    assert isinstance(run.kit.index, MemoryIndex)
    run.kit.index.chunks = {one.key: one for one in chunks}
    run.kit = replace(run.kit, llm=run.kit.extractive, document_reader=Shelf(chunks, **more))  # type: ignore[arg-type]
    assert needs_documents(run, plan(question))
    return asyncio.run(document_reading(run, plan(question), hits))


def documents(made: OpenedPassages) -> list[str]:
    return list(dict.fromkeys(one.document_id for one in made.passages))


def test_a_summary_opens_the_document_that_the_question_names(make_run: Callable[..., Run]) -> None:
    made = opened(make_run, "Summarise the travel policy", [hit("x", document_id="b", title="Lease Quay 3")])
    assert (documents(made), len(made.passages), made.alone) == (["a"], 3, True)


def test_a_summary_of_nothing_that_is_named_opens_nothing(make_run: Callable[..., Run]) -> None:
    assert opened(make_run, "Summarise the plot of Hamlet").passages == ()


def test_a_summary_opens_the_document_with_a_heading_that_the_question_names(make_run: Callable[..., Run]) -> None:
    about = hit("Hotels 0", document_id="a", title="Travel policy", heading_path=("Travel policy", "Hotels"))
    assert documents(opened(make_run, "Give me an overview of the hotels", [about])) == ["a"]


def test_a_comparison_opens_both_documents(make_run: Callable[..., Run]) -> None:
    made = opened(make_run, "Compare the lease of Quay 9 and the lease of Quay 3")
    assert (documents(made), made.alone) == (["c", "b"], True)


def test_a_list_opens_the_documents_of_the_hits_and_the_one_named(make_run: Callable[..., Run]) -> None:
    made = opened(make_run, "List all rules of the travel policy", [hit("x", document_id="b", title="Lease Quay 3")])
    assert (documents(made), made.alone) == (["b", "a"], False)


def test_a_document_that_may_not_be_read_is_left_out(make_run: Callable[..., Run]) -> None:
    assert opened(make_run, "Summarise the travel policy", gone="a").passages == ()


def test_of_a_long_document_the_sections_are_read_that_are_needed(make_run: Callable[..., Run]) -> None:
    long = [chunk("a", n, f"Part {n // 4}", "Travel policy") for n in range(4 * MAX_PASSAGES)]
    assert len(opened(make_run, "Summarise the travel policy", chunks=long).passages) == MAX_PASSAGES
    one = hit("x", document_id="a", title="Travel policy", heading_path=("Travel policy", "Part 3"))
    made = opened(make_run, "How do I book a taxi?", [one], chunks=long)
    assert [passage.heading_path[-1] for passage in made.passages] == ["Part 3"] * 4


@pytest.mark.parametrize(("question", "needed"), [("When does it open?", False), ("Summarise the policy", True)])
def test_only_some_forms_need_whole_documents(make_run: Callable[..., Run], question: str, needed: bool) -> None:
    run = make_run()
    assert not needs_documents(run, plan(question))  # a model reads what was found
    run.kit = replace(run.kit, llm=run.kit.extractive, document_reader=Shelf(LIBRARY))  # type: ignore[arg-type]
    assert needs_documents(run, plan(question)) is needed


def test_opened_passages_follow_the_hits_or_replace_them() -> None:
    old, same, new = hit("a", key=1), hit("a", key=1), hit("b", key=2, document_id="d", relevance=0.1)
    assert with_opened([old], [same, new], NOTHING_OPENED) == [old, new]
    [only] = with_opened([old], [new], OpenedPassages((new.chunk,), {"d": 0.7}, alone=True))
    assert only.relevance == 0.7
