"""An answer looked up step by step: the model calls tools, sees what they bring, and in the end answers.

All that a model can do without end is bounded: turns, tokens, time, calls of a turn, the same call again, the length of
arguments and results. Where a bound is reached it is asked for its answer without tools, and the answer says so.
"""

import json
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from pincite.core.otel_attributes import asked, written
from pincite.core.query.plan import Plan
from pincite.core.query.prompt import Draft, Prompt, StreamPart, Usage
from pincite.core.query.tools import Step, ToolCall
from pincite.core.run import Run, SourcesFound, Stepped
from pincite.errors import ProviderError, ProviderRefused, Unavailable
from pincite.models.facts import facts_of
from pincite.models.resilient import abilities_of
from pincite.query.agent.scratchpad import Scratchpad, last_line
from pincite.query.agent.text_tool_calls import answer_in, calls_in
from pincite.query.agent.tools import MOST_ARGUMENTS, PresetCall, Result, ToolBackend, offered, use
from pincite.query.agent.transcript import Transcript
from pincite.query.citations.sources import sources_of
from pincite.query.generate.generate import told
from pincite.query.generate.link_policy import LinkPolicy
from pincite.query.generate.markdown_stream import sanitize
from pincite.text.invisible import visible

MOST_CALLS = 5
"""Calls of one turn that are made."""
MOST_REPEATS = 2
"""Calls that were made before; one who makes more of them is not getting anywhere."""
KEPT_BACK_S = 15.0
"""Time that is kept for the answer."""
SHORT, THOUGHT = 200, 300
"""Characters of an argument and of what the model says about a step, as a step tells them."""


@dataclass(slots=True)
class AgentState:
    """What was done so far for one question."""

    desk: Scratchpad
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
    run: Run, plan: Plan, desk: Scratchpad, hands: ToolBackend, errands: Sequence[PresetCall] = ()
) -> tuple[Draft, Prompt]:
    """Let the model look things up until it answers; what it found is on the desk."""
    doing = AgentState(desk, Transcript.of(run, plan, desk), _calls_tools(run, plan), hands.tools)
    doing.looked = "rag_search" not in hands.tools
    for errand in errands:
        await run.step(tool_call, doing, errand.call, errand.hands, "")
    if errands:
        doing.transcript.add("", [errand.call for errand in errands], native=doing.native)
    while True:
        bound = _bound(run, doing)
        if bound is not None and not (desk.hits or doing.looked):
            await _look_first(run, plan, doing, hands)
        turn = await _turn(run, doing, final=bound is not None)
        if bound is None and turn.calls:
            for call in turn.calls[:MOST_CALLS]:
                await run.step(tool_call, doing, call, hands, turn.text)
            doing.transcript.add(turn.text, turn.calls[:MOST_CALLS], native=doing.native)
            continue
        if bound is None and not (desk.hits or doing.looked):
            await _look_first(run, plan, doing, hands)
            continue
        if bound is not None:
            run.warnings.append(f"the model was asked for its answer: {bound}")
        run.observe(
            turns=doing.turns, steps=len(desk.steps), tokens=doing.tokens, native=doing.native, bound=bound or "",
            hits=[[hit.chunk.id, round(hit.score, 6)] for hit in desk.hits],
        )  # fmt: skip
        return _answered(run, doing, turn)


def _answered(run: Run, doing: AgentState, turn: ModelTurn) -> tuple[Draft, Prompt]:
    """What the last turn said, as a draft that stands on the desk; `ProviderError` where it only repeats what it was given."""
    if doing.desk.boundary in turn.text:
        raise ProviderError("the model repeated what it had been given instead of answering")
    prompt = replace(doing.transcript.prompt(tools=False, native=doing.native), sources=tuple(doing.desk.hits))
    spoken = turn.pieces
    if not doing.native:
        last = next((piece for piece in turn.pieces if piece.finish_reason), StreamPart(finish_reason="stop"))
        spoken = (StreamPart(answer_in(turn.text)), replace(last, text=""))
    run.prompt = prompt
    draft = told(run, prompt, spoken, doing.transcript.given)
    return replace(draft, usage=doing.usage), prompt


def _calls_tools(run: Run, plan: Plan) -> bool:
    """Whether the model is offered tools: as the setting says, else the table, else its server; who is unknown is tried."""
    wished = run.settings.llm.tools
    known = facts_of(run.model_of(plan.question)).tools
    said = abilities_of(run.kit.llm).tools
    return next((one for one in (wished, False if said is False else None, known, said) if one is not None), True)


def _bound(run: Run, doing: AgentState) -> str | None:
    """Why the model must answer now, if it must."""
    agent = run.settings.agent
    if doing.turns >= agent.max_iterations:
        return f"{agent.max_iterations} turns are the most (agent.max_iterations)"
    if doing.tokens >= agent.max_tokens:
        return f"{agent.max_tokens:,} tokens are used up (agent.max_tokens)"
    if doing.repeats > MOST_REPEATS:
        return "it made the same calls again and again"
    if doing.desk.full:
        return f"{len(doing.desk.hits)} passages are the most an answer stands on"
    late = run.deadline - time.monotonic() < min(KEPT_BACK_S, run.settings.llm.question_timeout_s / 4)
    return "the time is nearly up (llm.question_timeout_s)" if late else None


async def _turn(run: Run, doing: AgentState, *, final: bool) -> ModelTurn:
    """One turn of the model; one that does not take tools is talked to in plain text from then on."""
    if final:
        doing.transcript.ask_for_the_answer()
    try:
        return await run.step(agent_turn, doing, final=final)
    except ProviderRefused as error:
        if not doing.native or final or "tool" not in str(error).lower():
            raise
        run.degrade("agent", f"the model takes no tools ({error}); they were described to it in plain text")
        doing.native = False
        return await run.step(agent_turn, doing, final=final)


async def agent_turn(run: Run, doing: AgentState, *, final: bool) -> ModelTurn:
    """Ask the model for its next step, or for its answer; nothing of it is shown before it has ended."""
    llm, transcript = run.kit.llm, doing.transcript
    prompt = transcript.prompt(tools=not final, native=doing.native)
    prompt = replace(prompt, tools=offered(doing.tools) if doing.native and not final else ())
    run.observe(**asked(run.provider_of(llm), prompt, llm.name), turn=doing.turns + 1)
    doing.turns += 1
    pieces: list[StreamPart] = []
    async with aclosing(llm.write(prompt)) as written_pieces:  # type: ignore[type-var]
        async for piece in written_pieces:
            if piece.note:
                run.degrade("llm_generation", piece.note)
            pieces.append(replace(piece, note=None))
    text = "".join(piece.text for piece in pieces)
    calls = tuple(call for piece in pieces for call in piece.calls)
    if not doing.native:
        before, calls = calls_in(text)
        text = before if calls and not final else text
    _count(run, doing, pieces, prompt, text)
    return ModelTurn(tuple(pieces), text, calls)


def _count(run: Run, doing: AgentState, pieces: Sequence[StreamPart], prompt: Prompt, text: str) -> None:
    """What a turn cost: the server's word, else what we count."""
    last = next((piece for piece in pieces if piece.finish_reason), StreamPart())
    usage = next((piece.usage for piece in pieces if piece.usage), None)
    used = usage or Usage(prompt.tokens, doing.transcript.count(text))
    doing.tokens += used.prompt_tokens + used.completion_tokens
    if usage:
        before = doing.usage or Usage(0, 0)
        doing.usage = Usage(
            before.prompt_tokens + usage.prompt_tokens, before.completion_tokens + usage.completion_tokens
        )
    run.observe(**written(Draft(text, last.model or run.kit.llm.name, last.finish_reason, usage), None))


async def _look_first(run: Run, plan: Plan, doing: AgentState, hands: ToolBackend) -> None:
    """Search for a model that answers without having found anything: what it knows by itself stands on nothing."""
    doing.looked = True
    call = ToolCall("first", "rag_search", json.dumps({"queries": [plan.text]}, ensure_ascii=False))
    await run.step(tool_call, doing, call, hands, "")
    doing.transcript.add("", (call,), native=doing.native)


async def tool_call(run: Run, doing: AgentState, call: ToolCall, hands: ToolBackend, thought: str) -> None:
    """Make one call, put what it brings on the desk, and tell it as a step."""
    result, known = await _result(run, doing, call, hands)
    before, room = len(doing.desk.hits), doing.transcript.room(run.settings.agent.result_tokens)
    shown, numbers = doing.desk.show(result.hits, room)
    if known and not numbers:
        numbers = known
    said = _told(result, numbers, doing.desk)
    doing.transcript.answer(call, f"{said}\n{shown}" if shown else said)
    border = LinkPolicy.around([*doing.transcript.given, *(hit.chunk.text for hit in doing.desk.hits)])
    step = Step(
        len(doing.desk.steps) + 1, call.name[:40], {name: _short(value, border) for name, value in (result.arguments or {}).items()},
        sanitize(visible(said), border)[:500], numbers, result.failed,
        sanitize(visible(" ".join(thought.split())), border)[:THOUGHT],
    )  # fmt: skip
    doing.desk.steps.append(step)
    run.observe(
        tool=_name(call.name),
        passages=len(result.hits),
        shown=len(numbers),
        new=len(doing.desk.hits) - before,
        failed=result.failed,
    )
    run.emit(Stepped(step))
    if len(doing.desk.hits) > before:
        run.emit(SourcesFound(sources_of(doing.desk.hits, cited=frozenset())))


async def _result(run: Run, doing: AgentState, call: ToolCall, hands: ToolBackend) -> tuple[Result, tuple[int, ...]]:
    """What a call brings; one that was made before brings nothing, and one that fails does not fail the answer."""
    same = f"{call.name} {_canonical(call.arguments)}"
    if same in doing.made:
        doing.repeats += 1
        told = "you have made this call already, and its result is above; answer, or look for something else"
        return Result(told, failed=True), doing.made[same]
    doing.made[same] = ()
    try:
        return await use(call, hands), ()
    except Unavailable as error:
        run.degrade(call.name, f"it did not work: {error}")
        return Result("this tool does not work for the moment; go on without it", failed=True), ()


def _canonical(arguments: str) -> str:
    """Arguments as they compare: the same object is the same call, however it is written."""
    try:
        found = json.loads(arguments) if len(arguments) <= MOST_ARGUMENTS else arguments[:100]
    except (ValueError, RecursionError):
        found = arguments
    return json.dumps(found, sort_keys=True).casefold()


def _told(result: Result, numbers: tuple[int, ...], desk: Scratchpad) -> str:
    """A line about a result: what came of it, how much of it is shown, and where to go on."""
    if result.failed or not result.hits:
        return result.said
    if not numbers:
        return f"{result.said}; there is no room to show more: answer with what you have"
    named = ", ".join(f"[Source {number}]" for number in dict.fromkeys(numbers))
    if result.opened and not result.opened.found and (line := last_line(result.hits, numbers, desk)):
        return f"{result.said}; shown up to line {line} as {named}; go on with start_line {line + 1}"
    return f"{result.said}; shown: {named}"


def _short(value: object, border: LinkPolicy) -> object:
    """An argument as a step tells it: no longer than a line, and leading nowhere."""
    if isinstance(value, list):
        return [_short(one, border) for one in value[:MOST_CALLS]]
    return sanitize(visible(value), border)[:SHORT] if isinstance(value, str) else value


def _name(name: str) -> str:
    """The tool as a trace tells it: what a model made up is none of its words."""
    return name if name in {tool.name for tool in offered()} else "unknown"


def plan_of(steps: Sequence[Step]) -> tuple[str, ...]:
    """The steps as lines of a plan, in words that hold none of anybody's."""
    return tuple(
        f"step {step.number}: {_name(step.tool)}, "
        + ("failed" if step.failed else f"{len(step.sources)} passage{'' if len(step.sources) == 1 else 's'}")
        for step in steps
    )
