"""Run a flow: its completions in topological order, on one scratchpad, so that source numbers stay the same."""

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
from pincite.flows.graph import MAX_QUERY_CHARS, CompletionNode, Flow, RagNode, ReadNode
from pincite.query import pipeline
from pincite.query.agent.loop import agent
from pincite.query.agent.rule_based import run_preset_calls
from pincite.query.agent.scratchpad import Scratchpad
from pincite.query.agent.tools import MAX_QUERIES, PresetCall, ToolBackend
from pincite.query.ground.ground import no_retrieval
from pincite.query.history import history_saving
from pincite.query.understand.analysis import query_analysis
from pincite.query.understand.guard import guardrails, model_lookup

MAX_PASSED_CHARS = 2000
"""Maximum characters of a completion's text that are passed on to the next completion."""
ReadResult = tuple[DocumentExtract, Sequence[Hit]]


@dataclass(frozen=True, slots=True)
class NodeInput:
    """The input of a completion from one node: tools, tool calls to make first, and a system message."""

    backend: ToolBackend
    preset_calls: tuple[PresetCall, ...]
    message: tuple[int, str]


async def run_flow(run: Run, flow: Flow) -> Answer:
    """Run the nodes that the answer needs; the text of the last completion is the answer."""
    asked = await run.step(guardrails, Question(flow.input, mode="agent"))
    await run.step(model_lookup)
    run.emit(Started(run.answer_id, run.id))
    scratchpad, texts = pipeline.new_scratchpad(run), {"input": asked.text}
    *before, last = flow.in_order()
    for node in before:
        with _tokens_muted(run):
            written = (await run.step(completion_node, flow, node, scratchpad, texts))[1]
        texts[node.id] = written.text[:MAX_PASSED_CHARS] if written else ""
    plan, made, prompt = await run.step(completion_node, flow, last, scratchpad, texts)
    if flow.has_documents():
        final = await pipeline.finish_steps(run, plan, scratchpad, made, prompt)
    else:
        final = await run.step(no_retrieval, plan, made)
    nodes = tuple(f"node {node.id}: {node.type}" for node in (*before, last))
    final = replace(final, mode="agent", metadata=replace(final.metadata, plan=(*nodes, *final.metadata.plan)))
    return await run.finish(history_saving, plan, final)


async def completion_node(
    run: Run, flow: Flow, node: CompletionNode, scratchpad: Scratchpad, texts: dict[str, str]
) -> tuple[Plan, Draft | None, Prompt]:
    """Run a completion with its inputs; without a language model, the extractive model writes.

    In a flow that neither searches nor reads, the model writes without documents.
    """
    question = await run.step(
        guardrails, Question(node.fill_prompt(texts), mode="agent", retrieve=True), answered=False
    )
    plan = await run.step(query_analysis, question)
    inputs = flow.inputs(node)
    given = [
        await _node_input(run, plan, one.filled(texts["input"]))
        for one in inputs
        if isinstance(one, RagNode | ReadNode)
    ]
    before = [one for one in inputs if isinstance(one, CompletionNode)]
    turns = tuple(Exchange(one.fill_prompt(texts), one.fill_prompt(texts), texts[one.id]) for one in before)
    sampling = node.sampling([one.message for one in given], texts)
    plan = replace(plan, question=replace(plan.question, sampling=sampling, conversation=turns))
    run.emit(Planned(plan))
    if not flow.has_documents():
        return plan, await pipeline.write_without_documents(run, plan), Prompt(plan.text, (), (), 0)
    preset_calls = [preset for one in given for preset in one.preset_calls]
    backend, worked = combine_backends([one.backend for one in given]), None
    if run.kit.llm is run.kit.extractive:
        run.degrade("flow", "no language model is configured (llm.*); sentences were selected by rules")
    else:
        worked = await run.attempt(None, agent, plan, scratchpad, backend, preset_calls)
    if worked is None:
        await run.step(run_preset_calls, scratchpad, preset_calls or _searches_by_rule(texts["input"], given))
    made, prompt = worked or await pipeline.extract_draft(run, plan, scratchpad)
    return plan, made, prompt


async def _node_input(run: Run, plan: Plan, node: RagNode | ReadNode) -> NodeInput:
    if isinstance(node, RagNode):
        return await run.step(rag_node, plan, node)
    return await run.step(read_node, plan, node)


async def rag_node(run: Run, plan: Plan, node: RagNode) -> NodeInput:
    """Return the tools of a search node, restricted to its filters."""
    asked = replace(plan.question, filters=node.filters(), top_k=node.top_k, min_score=node.min_score)
    own = pipeline.tool_backend(run, replace(plan, question=asked))

    async def search(queries: Sequence[str]) -> Sequence[Hit]:
        if len(queries) > node.max_queries:
            raise Invalid(f"at most {node.max_queries} queries at once")
        return await own.search(queries)

    backend = ToolBackend(search, own.read, own.find, ("rag_search",), node.max_queries)
    preset_calls = (_preset(node.id, "rag_search", backend, queries=node.queries),) if node.queries else ()
    return NodeInput(backend, preset_calls, (node.priority, node.message()))


async def read_node(run: Run, plan: Plan, node: ReadNode) -> NodeInput:
    """Return the tools of a read node: for the document it names only, or for any document."""
    own = pipeline.tool_backend(run, plan)
    backend = ToolBackend(own.search, own.read, own.find, ("read_document", "find_in_document"))
    if not node.named:
        return NodeInput(backend, (), (node.priority, node.message()))
    opened, _ = await own.read(node.reading())  # a missing document ends the flow before a model is called

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


def _searches_by_rule(text: str, given: Sequence[NodeInput]) -> list[PresetCall]:
    """Return the searches to make without a language model: the flow's input, with each search node."""
    searching = [one.backend for one in given if "rag_search" in one.backend.tools]
    return [
        _preset(str(n), "rag_search", backend, queries=[text[:MAX_QUERY_CHARS]]) for n, backend in enumerate(searching)
    ]


def combine_backends(several: Sequence[ToolBackend]) -> ToolBackend:
    """Combine the tools of several nodes: a search runs all searches, a read uses the first node with the document."""
    searching = [backend for backend in several if "rag_search" in backend.tools]
    readers = [backend for backend in several if "read_document" in backend.tools]

    async def search(queries: Sequence[str]) -> Sequence[Hit]:
        found = [await backend.search(queries) for backend in searching]
        best: dict[int, Hit] = {}
        for hit in chain.from_iterable(zip_longest(*found)):
            if hit is not None:
                best.setdefault(hit.chunk.key, hit)
        return list(best.values())

    async def first_found(how: Callable[[ToolBackend], Awaitable[ReadResult]]) -> ReadResult:
        missing = NotFound("there is no such document here")
        for backend in readers:
            try:
                return await how(backend)
            except NotFound as error:
                missing = error
        raise missing

    tools = tuple(dict.fromkeys(name for backend in several for name in backend.tools))
    return ToolBackend(
        search,
        lambda reading: first_found(lambda backend: backend.read(reading)),
        lambda reading, text: first_found(lambda backend: backend.find(reading, text)),
        tools,
        min((backend.max_queries for backend in searching), default=MAX_QUERIES),
    )


@contextmanager
def _tokens_muted(run: Run) -> Iterator[None]:
    """Suppress the token events in this block: the text written in it is not the answer."""
    emit = run.emit

    def forward(event: Event) -> None:
        if not isinstance(event, Token):
            emit(event)

    run.emit = forward
    try:
        yield
    finally:
        run.emit = emit
