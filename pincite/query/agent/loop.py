"""An answer looked up step by step: the model calls tools, sees what they bring, and in the end answers.

All that a model can do without end is bounded: turns, tokens, time, calls of a turn, the same call again, the length of
arguments and results. Where a bound is reached it is asked for its answer without tools, and the answer says so.
"""

import json
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from pincite.core.query.plan import Plan
from pincite.core.query.prompt import Draft, Prompt, StreamPart, Usage
from pincite.core.query.tools import Step, ToolCall
from pincite.core.run import Run, SourcesFound, Stepped
from pincite.core.traces import asked, written
from pincite.errors import ProviderError, ProviderRefused, Unavailable
from pincite.models.facts import facts_of
from pincite.models.resilient import abilities_of
from pincite.query.agent.scratchpad import Scratchpad, last_line
from pincite.query.agent.text_tool_calls import answer_in, calls_in
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
from pincite.query.generate.generate import build_draft
from pincite.query.generate.link_policy import LinkPolicy
from pincite.query.generate.markdown_stream import sanitize
from pincite.text.invisible import visible

MAX_CALLS_PER_TURN = 5
"""Calls of one turn that are made."""
MAX_REPEATED_CALLS = 2
"""Calls that were made before; one who makes more of them is not getting anywhere."""
ANSWER_RESERVE_S = 15.0
"""Time that is kept for the answer."""
MAX_STEP_ARGUMENT_CHARS, MAX_STEP_THOUGHT_CHARS = 200, 300
"""Characters of an argument and of what the model says about a step, as a step tells them."""


@dataclass(slots=True)
class AgentState:
    """What was done so far for one question."""

    scratchpad: Scratchpad
    transcript: Transcript
    native: bool
    tools: tuple[str, ...]
    made: dict[str, tuple[int, ...]] = field(default_factory=dict)
    repeats: int = 0
    looked: bool = False
    turns: int = 0
    tokens: int = 0
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """What the model said in one turn: its pieces, the text before any call, and the calls."""

    pieces: tuple[StreamPart, ...]
    text: str
    calls: tuple[ToolCall, ...]


async def agent(
    run: Run, plan: Plan, scratchpad: Scratchpad, backend: ToolBackend, preset_calls: Sequence[PresetCall] = ()
) -> tuple[Draft, Prompt]:
    """Let the model look things up until it answers; what it found is on the scratchpad."""
    state = AgentState(scratchpad, Transcript.of(run, plan, scratchpad), _supports_tools(run, plan), backend.tools)
    state.looked = "rag_search" not in backend.tools
    for preset in preset_calls:
        await run.step(tool_call, state, preset.call, preset.backend, "")
    if preset_calls:
        state.transcript.add("", [preset.call for preset in preset_calls], native=state.native)
    while True:
        bound = _reached_limit(run, state)
        if bound is not None and not (scratchpad.hits or state.looked):
            await _search_first(run, plan, state, backend)
        turn = await _take_turn(run, state, final=bound is not None)
        if bound is None and turn.calls:
            for call in turn.calls[:MAX_CALLS_PER_TURN]:
                await run.step(tool_call, state, call, backend, turn.text)
            state.transcript.add(turn.text, turn.calls[:MAX_CALLS_PER_TURN], native=state.native)
            continue
        if bound is None and not (scratchpad.hits or state.looked):
            await _search_first(run, plan, state, backend)
            continue
        if bound is not None:
            run.warnings.append(f"the model was asked for its answer: {bound}")
        run.observe(
            turns=state.turns, steps=len(scratchpad.steps), tokens=state.tokens, native=state.native, bound=bound or "",
            hits=[[hit.chunk.id, round(hit.score, 6)] for hit in scratchpad.hits],
        )  # fmt: skip
        return _final_draft(run, state, turn)


def _final_draft(run: Run, state: AgentState, turn: ModelTurn) -> tuple[Draft, Prompt]:
    """What the last turn said, as a draft that stands on the scratchpad; `ProviderError` where it only repeats what it was given."""
    if state.scratchpad.boundary in turn.text:
        raise ProviderError("the model repeated what it had been given instead of answering")
    prompt = replace(state.transcript.prompt(tools=False, native=state.native), sources=tuple(state.scratchpad.hits))
    spoken = turn.pieces
    if not state.native:
        last = next((piece for piece in turn.pieces if piece.finish_reason), StreamPart(finish_reason="stop"))
        spoken = (StreamPart(answer_in(turn.text)), replace(last, text=""))
    run.prompt = prompt
    draft = build_draft(run, prompt, spoken, state.transcript.given)
    return replace(draft, usage=state.usage), prompt


def _supports_tools(run: Run, plan: Plan) -> bool:
    """Whether the model is offered tools: as the setting says, else the table, else its server; who is unknown is tried."""
    wished = run.settings.llm.tools
    known = facts_of(run.model_of(plan.question)).tools
    said = abilities_of(run.kit.llm).tools
    return next((one for one in (wished, False if said is False else None, known, said) if one is not None), True)


def _reached_limit(run: Run, state: AgentState) -> str | None:
    """Why the model must answer now, if it must."""
    agent = run.settings.agent
    if state.turns >= agent.max_iterations:
        return f"{agent.max_iterations} turns are the most (agent.max_iterations)"
    if state.tokens >= agent.max_tokens:
        return f"{agent.max_tokens:,} tokens are used up (agent.max_tokens)"
    if state.repeats > MAX_REPEATED_CALLS:
        return "it made the same calls again and again"
    if state.scratchpad.full:
        return f"{len(state.scratchpad.hits)} passages are the most an answer stands on"
    late = run.deadline - time.monotonic() < min(ANSWER_RESERVE_S, run.settings.llm.question_timeout_s / 4)
    return "the time is nearly up (llm.question_timeout_s)" if late else None


async def _take_turn(run: Run, state: AgentState, *, final: bool) -> ModelTurn:
    """One turn of the model; one that does not take tools is talked to in plain text from then on."""
    if final:
        state.transcript.ask_for_the_answer()
    try:
        return await run.step(agent_turn, state, final=final)
    except ProviderRefused as error:
        if not state.native or final or "tool" not in str(error).lower():
            raise
        run.degrade("agent", f"the model takes no tools ({error}); they were described to it in plain text")
        state.native = False
        return await run.step(agent_turn, state, final=final)


async def agent_turn(run: Run, state: AgentState, *, final: bool) -> ModelTurn:
    """Ask the model for its next step, or for its answer; nothing of it is shown before it has ended."""
    llm, transcript = run.kit.llm, state.transcript
    prompt = transcript.prompt(tools=not final, native=state.native)
    prompt = replace(prompt, tools=tool_definitions(state.tools) if state.native and not final else ())
    run.observe(**asked(run.provider_of(llm), prompt, llm.name), turn=state.turns + 1)
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
    """What a turn cost: the server's word, else what we count."""
    last = next((piece for piece in pieces if piece.finish_reason), StreamPart())
    usage = next((piece.usage for piece in pieces if piece.usage), None)
    used = usage or Usage(prompt.tokens, state.transcript.count(text))
    state.tokens += used.prompt_tokens + used.completion_tokens
    if usage:
        before = state.usage or Usage(0, 0)
        state.usage = Usage(
            before.prompt_tokens + usage.prompt_tokens, before.completion_tokens + usage.completion_tokens
        )
    run.observe(**written(Draft(text, last.model or run.kit.llm.name, last.finish_reason, usage), None))


async def _search_first(run: Run, plan: Plan, state: AgentState, backend: ToolBackend) -> None:
    """Search for a model that answers without having found anything: what it knows by itself stands on nothing."""
    state.looked = True
    call = ToolCall("first", "rag_search", json.dumps({"queries": [plan.text]}, ensure_ascii=False))
    await run.step(tool_call, state, call, backend, "")
    state.transcript.add("", (call,), native=state.native)


async def tool_call(run: Run, state: AgentState, call: ToolCall, backend: ToolBackend, thought: str) -> None:
    """Make one call, put what it brings on the scratchpad, and tell it as a step."""
    result, known = await _execute(run, state, call, backend)
    before, room = len(state.scratchpad.hits), state.transcript.room(run.settings.agent.result_tokens)
    shown, numbers = state.scratchpad.show(result.hits, room)
    if known and not numbers:
        numbers = known
    said = _result_line(result, numbers, state.scratchpad)
    state.transcript.answer(call, f"{said}\n{shown}" if shown else said)
    policy = LinkPolicy.allowing([*state.transcript.given, *(hit.chunk.text for hit in state.scratchpad.hits)])
    step = Step(
        len(state.scratchpad.steps) + 1, call.name[:40], {name: _shorten_argument(value, policy) for name, value in (result.arguments or {}).items()},
        sanitize(visible(said), policy)[:500], numbers, result.failed,
        sanitize(visible(" ".join(thought.split())), policy)[:MAX_STEP_THOUGHT_CHARS],
    )  # fmt: skip
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
    """What a call brings; one that was made before brings nothing, and one that fails does not fail the answer."""
    same = f"{call.name} {_canonical(call.arguments)}"
    if same in state.made:
        state.repeats += 1
        told = "you have made this call already, and its result is above; answer, or look for something else"
        return ToolResult(told, failed=True), state.made[same]
    state.made[same] = ()
    try:
        return await call_tool(call, backend), ()
    except Unavailable as error:
        run.degrade(call.name, f"it did not work: {error}")
        return ToolResult("this tool does not work for the moment; go on without it", failed=True), ()


def _canonical(arguments: str) -> str:
    """Arguments as they compare: the same object is the same call, however it is written."""
    try:
        found = json.loads(arguments) if len(arguments) <= MAX_ARGUMENT_CHARS else arguments[:100]
    except (ValueError, RecursionError):
        found = arguments
    return json.dumps(found, sort_keys=True).casefold()


def _result_line(result: ToolResult, numbers: tuple[int, ...], scratchpad: Scratchpad) -> str:
    """A line about a result: what came of it, how much of it is shown, and where to go on."""
    if result.failed or not result.hits:
        return result.said
    if not numbers:
        return f"{result.said}; there is no room to show more: answer with what you have"
    named = ", ".join(f"[Source {number}]" for number in dict.fromkeys(numbers))
    if result.opened and not result.opened.found and (line := last_line(result.hits, numbers, scratchpad)):
        return f"{result.said}; shown up to line {line} as {named}; go on with start_line {line + 1}"
    return f"{result.said}; shown: {named}"


def _shorten_argument(value: object, policy: LinkPolicy) -> object:
    """An argument as a step tells it: no longer than a line, and leading nowhere."""
    if isinstance(value, list):
        return [_shorten_argument(one, policy) for one in value[:MAX_CALLS_PER_TURN]]
    return sanitize(visible(value), policy)[:MAX_STEP_ARGUMENT_CHARS] if isinstance(value, str) else value


def _known_tool_name(name: str) -> str:
    """The tool as a trace tells it: what a model made up is none of its words."""
    return name if name in {tool.name for tool in tool_definitions()} else "unknown"


def steps_as_plan(steps: Sequence[Step]) -> tuple[str, ...]:
    """The steps as lines of a plan, in words that hold none of anybody's."""
    return tuple(
        f"step {step.number}: {_known_tool_name(step.tool)}, "
        + ("failed" if step.failed else f"{len(step.sources)} passage{'' if len(step.sources) == 1 else 's'}")
        for step in steps
    )
