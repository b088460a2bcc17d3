"""Run a flow: each completion after its inputs, on one scratchpad, so that a source keeps its number."""

import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

from pincite.core.documents.document import ReadRequest
from pincite.core.protocols import DocumentExtract
from pincite.core.query.answer import Answer
from pincite.core.query.hits import Hit
from pincite.core.query.plan import Plan
from pincite.core.query.prompt import Draft, Prompt
from pincite.core.query.question import Exchange, Question
from pincite.core.query.tools import ToolCall
from pincite.core.run import Event, Planned, Run, Started, Token
from pincite.errors import Invalid, NotFound
from pincite.flows.graph import CompletionNode, Flow, RagNode, ReadNode
from pincite.query import pipeline
from pincite.query.agent.loop import agent
from pincite.query.agent.rule_based import run_preset_calls
from pincite.query.agent.scratchpad import Scratchpad
from pincite.query.agent.tools import PresetCall, ToolBackend
from pincite.query.history import history_saving
from pincite.query.understand.guard import guardrails, model_lookup
from pincite.query.understand.understand import query_analysis

MAX_PASSED_CHARS = 2000
"""Characters of what a completion said that the next one is told."""
MAX_QUERY_CHARS = 4000
"""Characters of a query that a tool takes."""
ReadResult = tuple[DocumentExtract, Sequence[Hit]]


@dataclass(frozen=True, slots=True)
class NodeInput:
    """What a node gives to a completion: tools to use, calls to make first, and a system message with its priority."""

    backend: ToolBackend
    preset_calls: tuple[PresetCall, ...]
    message: tuple[int, str]


async def run_flow(run: Run, flow: Flow) -> Answer:
    """Run what the answer needs; it is what the last completion says."""
    asked = await run.step(guardrails, Question(flow.input, mode="agent"))
    await run.step(model_lookup)
    run.emit(Started(run.answer_id, run.id))
    scratchpad, said = pipeline.new_scratchpad(run), {"input": asked.text}
    *before, last = flow.in_order()
    for node in before:
        with _tokens_muted(run):
            written = (await run.step(completion_node, flow, node, scratchpad, said))[1]
        said[node.id] = written.text[:MAX_PASSED_CHARS] if written else ""
    plan, made, prompt = await run.step(completion_node, flow, last, scratchpad, said)
    final = await pipeline.finish_steps(run, plan, scratchpad, made, prompt)
    nodes = tuple(f"node {node.id}: {node.type}" for node in (*before, last))
    final = replace(final, mode="agent", metadata=replace(final.metadata, plan=(*nodes, *final.metadata.plan)))
    return await run.finish(history_saving, plan, final)


async def completion_node(
    run: Run, flow: Flow, node: CompletionNode, scratchpad: Scratchpad, said: dict[str, str]
) -> tuple[Plan, Draft | None, Prompt]:
    """Collect what leads to a completion, and let the model write with it; without a model, code chooses."""
    question = await run.step(guardrails, Question(node.asks(said), mode="agent", retrieve=True), answered=False)
    plan = await run.step(query_analysis, question)
    inputs = flow.inputs(node)
    given = [await _node_input(run, plan, one) for one in inputs if isinstance(one, RagNode | ReadNode)]
    before = [one for one in inputs if isinstance(one, CompletionNode)]
    turns = tuple(Exchange(one.asks(said), one.asks(said), said[one.id]) for one in before)
    sampling = node.sampling([one.message for one in given])
    plan = replace(plan, question=replace(plan.question, sampling=sampling, conversation=turns))
    run.emit(Planned(plan))
    preset_calls = [preset for one in given for preset in one.preset_calls]
    if before and scratchpad.hits:
        preset_calls.insert(0, _found_so_far(before[0], plan, scratchpad))
    backend, worked = combine_backends([one.backend for one in given]), None
    if run.kit.llm is run.kit.extractive:
        run.degrade("flow", "there is no model to write (llm.*); sentences were chosen by rules")
    else:
        worked = await run.attempt(None, agent, plan, scratchpad, backend, preset_calls)
    if worked is None:
        await run.step(run_preset_calls, scratchpad, preset_calls or _searches_by_rule(plan, given))
    made, prompt = worked or await pipeline.extract_draft(run, plan, scratchpad)
    return plan, made, prompt


async def _node_input(run: Run, plan: Plan, node: RagNode | ReadNode) -> NodeInput:
    if isinstance(node, RagNode):
        return await run.step(rag_node, plan, node)
    return await run.step(read_node, plan, node)


async def rag_node(run: Run, plan: Plan, node: RagNode) -> NodeInput:
    """A node that searches its part of the library."""
    asked = replace(plan.question, filters=node.filters(), top_k=node.top_k, min_score=node.min_score)
    own = pipeline.tool_backend(run, replace(plan, question=asked))

    async def search(queries: Sequence[str]) -> Sequence[Hit]:
        if len(queries) > node.max_queries:
            raise Invalid(f"at most {node.max_queries} queries at once")
        return await own.search(queries)

    backend = ToolBackend(search, own.read, own.find, ("rag_search",))
    queries = node.queries and [query.replace("{input}", plan.question.text) for query in node.queries]
    preset_calls = (_preset(node.id, "rag_search", backend, queries=queries),) if queries else ()
    return NodeInput(backend, preset_calls, (node.priority, node.message()))


async def read_node(run: Run, plan: Plan, node: ReadNode) -> NodeInput:
    """A node that reads: the document it names and no other, or any."""
    own = pipeline.tool_backend(run, plan)
    backend = ToolBackend(own.search, own.read, own.find, ("read_document", "find_in_document"))
    if not node.named:
        return NodeInput(backend, (), (node.priority, node.message()))
    opened, _ = await own.read(node.reading())  # one that is not there ends the flow before a model is asked

    async def read(reading: ReadRequest) -> ReadResult:
        return await own.read(_require_document(opened.document_id, reading))

    async def find(reading: ReadRequest, text: str) -> ReadResult:
        return await own.find(_require_document(opened.document_id, reading), text)

    arguments = {"doc_id": opened.document_id, **node.model_dump(include=_READ_ARGUMENTS, exclude_none=True)}
    backend = ToolBackend(own.search, read, find, backend.tools)
    preset = _preset(node.id, "read_document", backend, **arguments)
    return NodeInput(backend, (preset,), (node.priority, node.message()))


_READ_ARGUMENTS = {"section", "start_line", "end_line", "version"}


def _require_document(document_id: str, reading: ReadRequest) -> ReadRequest:
    if reading.document_id != document_id:
        raise NotFound(f"only the document '{document_id}' can be read here")
    return reading


def _preset(node: str, tool: str, backend: ToolBackend, **arguments: object) -> PresetCall:
    return PresetCall(ToolCall(f"node_{node}", tool, json.dumps(arguments, ensure_ascii=False)), backend)


def _searches_by_rule(plan: Plan, given: Sequence[NodeInput]) -> list[PresetCall]:
    """What is looked up where no model says what: the question, in every part of the library that may be searched."""
    searching = [one.backend for one in given if "rag_search" in one.backend.tools]
    return [
        _preset(str(n), "rag_search", backend, queries=[plan.text[:MAX_QUERY_CHARS]])
        for n, backend in enumerate(searching)
    ]


def _found_so_far(before: CompletionNode, plan: Plan, scratchpad: Scratchpad) -> PresetCall:
    """What lies on the scratchpad already, for the next completion to see under the same numbers."""

    async def search(_queries: Sequence[str]) -> Sequence[Hit]:
        return list(scratchpad.hits)

    own = combine_backends(())
    return _preset(
        before.id, "rag_search", ToolBackend(search, own.read, own.find), queries=[plan.text[:MAX_QUERY_CHARS]]
    )


def combine_backends(several: Sequence[ToolBackend]) -> ToolBackend:
    """The tools of several nodes as one set: a search asks all that search, a document is opened by the first that may."""
    searching = [backend for backend in several if "rag_search" in backend.tools]
    reading = [backend for backend in several if "read_document" in backend.tools]

    async def search(queries: Sequence[str]) -> Sequence[Hit]:
        found = [await backend.search(queries) for backend in searching]
        best: dict[int, Hit] = {}
        for hit in chain.from_iterable(zip_longest(*found)):
            if hit is not None:
                best.setdefault(hit.chunk.key, hit)
        return list(best.values())

    async def opened(how: Callable[[ToolBackend], Awaitable[ReadResult]]) -> ReadResult:
        missing = NotFound("there is no such document here")
        for backend in reading:
            try:
                return await how(backend)
            except NotFound as error:
                missing = error
        raise missing

    tools = tuple(dict.fromkeys(name for backend in several for name in backend.tools))
    return ToolBackend(
        search,
        lambda wish: opened(lambda backend: backend.read(wish)),
        lambda wish, text: opened(lambda backend: backend.find(wish, text)),
        tools,
    )


@contextmanager
def _tokens_muted(run: Run) -> Iterator[None]:
    """What is written meanwhile is not the answer, and not streamed as one."""
    emit = run.emit

    def hear(event: Event) -> None:
        if not isinstance(event, Token):
            emit(event)

    run.emit = hear
    try:
        yield
    finally:
        run.emit = emit
