import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pincite.core.documents.document import ReadRequest
from pincite.core.protocols import DocumentExtract
from pincite.core.query.hits import Hit
from pincite.core.query.plan import Plan
from pincite.core.run import Event, Run, SourcesFound, Stepped
from pincite.errors import Unavailable
from pincite.query.agent.rule_based import agent_by_rules
from pincite.query.agent.scratchpad import Scratchpad
from pincite.query.agent.tools import ToolBackend
from pincite.query.prompt.budget import tokenizer
from pincite.query.prompt.templates import template
from pincite.query.understand.intent import analyse_question
from tests.builders import hit, plan

MILL = hit("The mill at Brook End was built by Ada Bright in 1902.", key=1, title="Mill")
ADA = hit("Ada Bright was born in Karlsruhe.", key=2, title="Ada Bright")


class Library:
    def __init__(self, down: bool = False) -> None:
        self.searched: list[list[str]] = []
        self.opened: list[ReadRequest] = []
        self.down = down

    async def search(self, queries: Sequence[str]) -> list[Hit]:
        if self.down:
            raise Unavailable("away")
        self.searched.append(list(queries))
        about_ada = any("Ada" in query for query in queries)
        return [ADA] if about_ada else [MILL]

    async def read(self, reading: ReadRequest) -> tuple[DocumentExtract, Sequence[Hit]]:
        self.opened.append(reading)
        return DocumentExtract("doc1", "v1", "Mill", (), 1, 2, 2), [hit("It has four floors.", key=3)]

    async def find(self, reading: ReadRequest, text: str) -> Any:
        raise AssertionError("nothing is looked for letter by letter")


def followed(
    make_run: Callable[..., Run], asked: Plan, library: Library, **settings: Any
) -> tuple[Scratchpad, list[Event], Run]:
    events: list[Event] = []
    run = make_run(events=events, **settings)
    scratchpad = Scratchpad(template("agent/source"), tokenizer("cl100k_base"))
    backend = ToolBackend(library.search, library.read, library.find)
    asyncio.run(agent_by_rules(run, asked, scratchpad, backend))
    return scratchpad, events, run


def test_names_that_the_best_sentences_bring_in_are_searched_next(make_run: Callable[..., Run]) -> None:
    library = Library()
    scratchpad, events, _ = followed(make_run, plan("Where was the builder of the mill born?"), library)
    assert library.searched[0] == ["Where was the builder of the mill born?"]
    assert any(query.startswith("Ada Bright") and "born" in query for query in library.searched[1])
    assert [one.chunk.title for one in scratchpad.hits] == ["Mill", "Ada Bright"]
    assert [step.tool for step in scratchpad.steps] == ["rag_search"] * len(scratchpad.steps)
    assert [type(event) for event in events[:4]] == [Stepped, SourcesFound, Stepped, SourcesFound]


def test_the_parts_of_a_question_are_searched_at_once(make_run: Callable[..., Run]) -> None:
    library, text = Library(), "Who built the mill, and when does the canteen open?"
    followed(make_run, replace(plan(text), analysis=analyse_question(text)), library)
    assert len(library.searched[0]) == 3
    assert library.searched[0][0] == text


def test_the_section_of_the_best_passage_is_read_where_a_list_is_wanted(make_run: Callable[..., Run]) -> None:
    library, text = Library(), "List all floors of the mill."
    listed = replace(plan(text), analysis=replace(analyse_question(text), intent="LIST"))
    scratchpad, _, _ = followed(make_run, listed, library)
    assert library.opened
    assert scratchpad.steps[-1].tool == "read_document"


def test_no_more_steps_are_made_than_an_agent_may(make_run: Callable[..., Run]) -> None:
    library = Library()
    scratchpad, _, _ = followed(
        make_run, plan("Where was the builder of the mill born?"), library, agent__max_iterations=1
    )
    assert len(scratchpad.steps) == 1


def test_a_failed_search_is_a_step_and_ends_the_agent(make_run: Callable[..., Run]) -> None:
    scratchpad, _, run = followed(make_run, plan("Who built the mill?"), Library(down=True))
    assert [step.failed for step in scratchpad.steps] == [True]
    assert [note.stage for note in run.degraded] == ["rag_search"]
