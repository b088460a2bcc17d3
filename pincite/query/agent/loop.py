"""The agent loop: the model calls tools, reads their results, and finally answers.

Turns, tokens, time, calls per turn, repeated calls and the lengths of arguments and results are limited. At a limit the
model must answer without tools, and a warning says so.
"""

import json
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from pincite.core.query.plan import Plan
from pincite.core.query.prompt import Draft, Prompt, StreamPart, Usage
from pincite.core.query.tools import Step, Tool, ToolCall
from pincite.core.run import Run, SourcesFound, Stepped
from pincite.core.traces import llm_request_attributes, llm_response_attributes
from pincite.errors import ProviderError, ProviderRefused, Unavailable
from pincite.models.facts import facts_of
from pincite.models.resilient import abilities_of
from pincite.query.agent.final_text import final_text
from pincite.query.agent.scratchpad import Scratchpad, last_line
from pincite.query.agent.text_tool_calls import answer_in, calls_in, turn_schema
from pincite.query.agent.tools import (
    MAX_ARGUMENT_CHARS,
    PresetCall,
    ToolBackend,
    ToolResult,
    call_tool,
    tool_definitions,
)
from pincite.query.agent.transcript import Transcript
from pincite.query.citations.sources import sources_of
from pincite.query.generate.generate import build_draft, linked_texts
from pincite.query.generate.link_policy import LinkPolicy
from pincite.query.generate.markdown_stream import sanitize
from pincite.text.invisible import visible

MAX_CALLS_PER_TURN = 5
"""Tool calls of one turn that are executed."""
MAX_REPEATED_CALLS = 2
"""Repeated calls after which the model must answer."""
ANSWER_RESERVE_S = 15.0
"""Seconds before the deadline that are reserved for the answer."""
MAX_STEP_ARGUMENT_CHARS, MAX_STEP_THOUGHT_CHARS = 200, 300
"""Characters of an argument and of the model's text in a step."""


@dataclass(slots=True)
class AgentState:
    """The state of the loop for one question."""

    scratchpad: Scratchpad
    transcript: Transcript
    native: bool
    tools: tuple[Tool, ...]
    results_by_call: dict[str, tuple[int, ...]] = field(default_factory=dict)
    repeats: int = 0
    searched: bool = False
    described: bool = False
    turns: int = 0
    tokens: int = 0
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """The output of the model in one turn: its stream parts, the text before any call, and the calls."""

    pieces: tuple[StreamPart, ...]
    text: str
    calls: tuple[ToolCall, ...]


async def agent(
    run: Run, plan: Plan, scratchpad: Scratchpad, backend: ToolBackend, preset_calls: Sequence[PresetCall] = ()
) -> tuple[Draft, Prompt]:
    """Let the model call tools until it answers; the passages found are on the scratchpad.

    Without tools, the model writes at once, from the passages that are on the scratchpad.
    """
    transcript = Transcript.of(run, plan, scratchpad, tools=bool(backend.tools))
    state = AgentState(
        scratchpad, transcript, _supports_tools(run, plan), tool_definitions(backend.tools, backend.max_queries)
    )
    state.searched = "rag_search" not in backend.tools
    for preset in preset_calls:
        await run.step(tool_call, state, preset.call, preset.backend, "")
    if preset_calls:
        state.transcript.add_turn("", [preset.call for preset in preset_calls], native=state.native)
    while True:
        limit = _reached_limit(run, state)
        if limit is not None and not (scratchpad.hits or state.searched):
            await _search_first(run, plan, state, backend)
        turn = await _take_turn(run, state, final=limit is not None and bool(backend.tools))
        if limit is None and turn.calls and backend.tools:
            for call in turn.calls[:MAX_CALLS_PER_TURN]:
                await run.step(tool_call, state, call, backend, turn.text)
            state.transcript.add_turn(turn.text, turn.calls[:MAX_CALLS_PER_TURN], native=state.native)
            continue
        if limit is None and not (scratchpad.hits or state.searched):
            await _search_first(run, plan, state, backend)
            continue
        if (
            limit is None
            and backend.tools
            and turn.text
            and not final_text(turn.text if state.native else answer_in(turn.text))
        ):
            state.described = True
            continue
        if limit is not None and backend.tools:
            run.warnings.append(f"the agent had to stop searching: {limit}")
        run.observe(
            turns=state.turns,
            steps=len(scratchpad.steps),
            tokens=state.tokens,
            native=state.native,
            bound=limit or "",
            hits=[[hit.chunk.id, round(hit.score, 6)] for hit in scratchpad.hits],
        )
        return _final_draft(run, state, turn)


def _final_draft(run: Run, state: AgentState, turn: ModelTurn) -> tuple[Draft, Prompt]:
    """The text of the last turn as a draft, with the scratchpad as its sources.

    `ProviderError` where the model only repeats its input or describes a search.
    """
    if state.scratchpad.boundary in turn.text:
        raise ProviderError("the model repeated its input instead of answering")
    text = final_text(turn.text if state.native else answer_in(turn.text))
    if turn.text.strip() and not text:
        raise ProviderError("the model described a search instead of answering")
    prompt = replace(state.transcript.prompt(tools=False, native=state.native), sources=tuple(state.scratchpad.hits))
    parts = (StreamPart(text), *(replace(piece, text="") for piece in turn.pieces))
    run.prompt = prompt
    draft = build_draft(run, prompt, parts, state.transcript.given_texts)
    return replace(draft, usage=state.usage), prompt


def _supports_tools(run: Run, plan: Plan) -> bool:
    """Whether the model supports tool calls: as the setting, the model table or its server says; if unknown, yes."""
    configured = run.settings.llm.tools
    known = facts_of(run.model_of(plan.question)).tools
    reported = abilities_of(run.kit.llm).tools
    refused = False if reported is False else None
    return next((one for one in (configured, refused, known, reported) if one is not None), True)


def _reached_limit(run: Run, state: AgentState) -> str | None:
    """The limit that forces the model to answer now; None where there is none."""
    agent = run.settings.agent
    if state.turns >= agent.max_iterations:
        return f"it used all {agent.max_iterations} turns (agent.max_iterations)"
    if state.tokens >= agent.max_tokens:
        return f"it used all {agent.max_tokens:,} tokens (agent.max_tokens)"
    if state.repeats > MAX_REPEATED_CALLS:
        return "it repeated the same calls"
    if state.described:
        return "it described a search and made none"
    if state.scratchpad.full:
        return f"{len(state.scratchpad.hits)} passages are the maximum of an answer"
    is_late = run.deadline - time.monotonic() < min(ANSWER_RESERVE_S, run.settings.llm.question_timeout_s / 4)
    return "the time was nearly over (llm.question_timeout_s)" if is_late else None


async def _take_turn(run: Run, state: AgentState, *, final: bool) -> ModelTurn:
    """One turn of the model; after a server refuses tools, they are described to the model in plain text."""
    if final:
        state.transcript.request_answer()
    try:
        return await run.step(agent_turn, state, final=final)
    except ProviderRefused as error:
        if not state.native or final or "tool" not in str(error).lower():
            raise
        run.degrade("agent", f"the model does not support tools ({error}); they were described in plain text")
        state.native = False
        return await run.step(agent_turn, state, final=final)


async def agent_turn(run: Run, state: AgentState, *, final: bool) -> ModelTurn:
    """Ask the model for its next step, or for its answer; nothing is streamed before the turn has ended."""
    llm, transcript = run.kit.llm, state.transcript
    final = final or not state.tools
    prompt = transcript.prompt(tools=not final, native=state.native)
    tools = state.tools if not final else ()
    schema = turn_schema(tools) if tools and not state.native else None
    prompt = replace(prompt, tools=tools if state.native else (), schema=schema)
    run.observe(**llm_request_attributes(run.provider_of(llm), prompt, llm.name), turn=state.turns + 1)
    state.turns += 1
    pieces: list[StreamPart] = []
    async with aclosing(llm.write(prompt)) as written_pieces:  # type: ignore[type-var]
        async for piece in written_pieces:
            if piece.note:
                run.degrade("llm_generation", piece.note)
            pieces.append(replace(piece, note=None))
    text = "".join(piece.text for piece in pieces)
    calls = tuple(call for piece in pieces for call in piece.calls)
    if not state.native:
        before, calls = calls_in(text)
        text = before if calls and not final else text
    _count_usage(run, state, pieces, prompt, text)
    return ModelTurn(tuple(pieces), text, calls)


def _count_usage(run: Run, state: AgentState, pieces: Sequence[StreamPart], prompt: Prompt, text: str) -> None:
    """Add the token usage of a turn: as the server reports it, else as counted here."""
    last = next((piece for piece in pieces if piece.finish_reason), StreamPart())
    usage = next((piece.usage for piece in pieces if piece.usage), None)
    used = usage or Usage(prompt.tokens, state.transcript.count(text))
    state.tokens += used.prompt_tokens + used.completion_tokens
    if usage:
        before = state.usage or Usage(0, 0)
        state.usage = Usage(
            before.prompt_tokens + usage.prompt_tokens, before.completion_tokens + usage.completion_tokens
        )
    run.observe(**llm_response_attributes(Draft(text, last.model or run.kit.llm.name, last.finish_reason, usage), None))


async def _search_first(run: Run, plan: Plan, state: AgentState, backend: ToolBackend) -> None:
    """Search for the question where the model wants to answer without any passage: its own knowledge has no source."""
    state.searched = True
    call = ToolCall("first", "rag_search", json.dumps({"queries": [plan.text]}, ensure_ascii=False))
    await run.step(tool_call, state, call, backend, "")
    state.transcript.add_turn("", (call,), native=state.native)


async def tool_call(run: Run, state: AgentState, call: ToolCall, backend: ToolBackend, thought: str) -> None:
    """Execute one tool call, put its passages on the scratchpad, and emit the step."""
    result, known = await _execute(run, state, call, backend)
    before, max_tokens = len(state.scratchpad.hits), state.transcript.result_tokens(run.settings.agent.result_tokens)
    shown, numbers = state.scratchpad.show(result.hits, max_tokens)
    if known and not numbers:
        numbers = known
    line = _result_line(result, numbers, state.scratchpad)
    state.transcript.add_result(call, f"{line}\n{shown}" if shown else line)
    policy = LinkPolicy.allowing([*state.transcript.given_texts, *linked_texts(state.scratchpad.hits)])
    step = Step(
        len(state.scratchpad.steps) + 1,
        call.name[:40],
        {name: _shorten_argument(value, policy) for name, value in (result.arguments or {}).items()},
        sanitize(visible(line), policy)[:500],
        numbers,
        result.failed,
        sanitize(visible(" ".join(thought.split())), policy)[:MAX_STEP_THOUGHT_CHARS],
    )
    state.scratchpad.steps.append(step)
    run.observe(
        tool=_known_tool_name(call.name),
        passages=len(result.hits),
        shown=len(numbers),
        new=len(state.scratchpad.hits) - before,
        failed=result.failed,
    )
    run.emit(Stepped(step))
    if len(state.scratchpad.hits) > before:
        run.emit(SourcesFound(sources_of(state.scratchpad.hits, cited=frozenset())))


async def _execute(
    run: Run, state: AgentState, call: ToolCall, backend: ToolBackend
) -> tuple[ToolResult, tuple[int, ...]]:
    """The result of a call, and the source numbers of the same earlier call.

    A repeated call is not executed again. A call that fails does not fail the answer.
    """
    call_key = f"{call.name} {_canonical(call.arguments)}"
    if call_key in state.results_by_call:
        state.repeats += 1
        message = "you made this call already, and its result is above; answer, or search for something else"
        return ToolResult(message, failed=True), state.results_by_call[call_key]
    state.results_by_call[call_key] = ()
    try:
        return await call_tool(call, backend), ()
    except Unavailable as error:
        run.degrade(call.name, f"the tool failed: {error}")
        return ToolResult("this tool is not available at the moment; continue without it", failed=True), ()


def _canonical(arguments: str) -> str:
    """Arguments in a canonical form, so that equal calls compare equal."""
    try:
        found = json.loads(arguments) if len(arguments) <= MAX_ARGUMENT_CHARS else arguments[:100]
    except (ValueError, RecursionError):
        found = arguments
    return json.dumps(found, sort_keys=True).casefold()


def _result_line(result: ToolResult, numbers: tuple[int, ...], scratchpad: Scratchpad) -> str:
    """One line about a result: its summary, the sources shown, and where to continue reading."""
    if result.failed or not result.hits:
        return result.summary
    if not numbers:
        return f"{result.summary}; there is no space to show more: answer with what you have"
    named = ", ".join(f"[Source {number}]" for number in dict.fromkeys(numbers))
    if result.opened and not result.opened.found and (line := last_line(result.hits, numbers, scratchpad)):
        return f"{result.summary}; shown up to line {line} as {named}; continue with start_line {line + 1}"
    return f"{result.summary}; shown: {named}"


def _shorten_argument(value: object, policy: LinkPolicy) -> object:
    """An argument for a step: shortened, and without links that are not allowed."""
    if isinstance(value, list):
        return [_shorten_argument(one, policy) for one in value[:MAX_CALLS_PER_TURN]]
    return sanitize(visible(value), policy)[:MAX_STEP_ARGUMENT_CHARS] if isinstance(value, str) else value


def _known_tool_name(name: str) -> str:
    """The name of a tool for the trace; `unknown` for a name that the model invented."""
    return name if name in {tool.name for tool in tool_definitions()} else "unknown"


def steps_as_plan(steps: Sequence[Step]) -> tuple[str, ...]:
    """The steps as lines of the plan, without any words of the question or the documents."""
    return tuple(
        f"step {step.number}: {_known_tool_name(step.tool)}, "
        + ("failed" if step.failed else f"{len(step.sources)} passage{'' if len(step.sources) == 1 else 's'}")
        for step in steps
    )
