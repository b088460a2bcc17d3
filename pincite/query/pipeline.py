"""A question becomes an answer. Read this first."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from pincite.core.documents.document import Reading
from pincite.core.protocols import Opened
from pincite.core.query.answer import Answer, Draft, Evidence, Hit, Mode, Plan, Prompt, Question, Strategy
from pincite.core.run import Planned, Run, SourcesFound, Started
from pincite.query.agent.loop import plan_of, work
from pincite.query.agent.rule_based import follow
from pincite.query.agent.scratchpad import Desk
from pincite.query.agent.tools import Hands
from pincite.query.cache.semantic_cache import NOT_ASKED, keep, look_up, may_ask
from pincite.query.citations.positions import place
from pincite.query.ensemble.drafts import variations, vote, written
from pincite.query.evidence.coverage import refine
from pincite.query.evidence.expand_documents import widen
from pincite.query.evidence.llm_verify import verify
from pincite.query.evidence.relevance_filter import sift
from pincite.query.generate.assemble import assemble
from pincite.query.generate.general_chat import talk
from pincite.query.generate.generate import draft, extract, generate
from pincite.query.ground.ground import ground, nothing_found, unsourced
from pincite.query.prompt.budget import tokenizer
from pincite.query.prompt.templates import Prompts
from pincite.query.rank.hierarchy import apart, lift, rise
from pincite.query.rank.proximity import look_closer
from pincite.query.rank.rank import capped, rank
from pincite.query.rank.score_opened import weigh
from pincite.query.retrieve.query_expansion import expand, expands
from pincite.query.retrieve.retrieve import retrieve
from pincite.query.retrieve.second_pass import MORE, aimed, merged, toward
from pincite.query.save import kept_when_cut, save
from pincite.query.understand.guard import guard_in, meet
from pincite.query.understand.history import recall
from pincite.query.understand.rewrite import rewrite
from pincite.query.understand.spelling import correct
from pincite.query.understand.understand import understand
from pincite.query.understand.vision import Seen, see, shown

SECOND: Mapping[Strategy, Callable[[Run, Plan, Sequence[Hit]], Awaitable[list[Hit]]]] = {
    "two_stage": look_closer,
    "hierarchical": rise,
}
"""What looks again at the hits of a strategy that has a second stage."""
NOTHING_SEEN = Seen()


async def answer(run: Run, question: Question) -> Answer:
    """Answer a question in its conversation, and keep the turn however it ends."""
    question = await run.step(guard_in, question)
    await run.step(meet)
    question = await run.step(recall, question)
    run.emit(Started(run.answer_id, run.id, question.session_id))
    async with kept_when_cut(run, question):
        question = await run.attempt(question, rewrite, question)
        question = await run.attempt(question, correct, question)
        plan = await run.step(understand, question)
        known = await run.attempt(NOT_ASKED, look_up, plan) if may_ask(run, plan) else NOT_ASKED
        if known.answer:
            final = repeat(run, plan, known.answer)
        else:
            plan = await prepare(run, plan)
            final = await MODES[question.mode](run, plan)
        final = replace(final, mode=question.mode)
    final = await run.finish(save, plan, final)
    if known.state is not None and not known.answer:
        await run.finish(keep, plan, final, known)
    return final


def repeat(run: Run, plan: Plan, known: Answer) -> Answer:
    """Tell what was answered before; there is nothing to wait for on the way."""
    run.emit(Planned(plan))
    run.emit(SourcesFound(known.sources))
    return known


async def prepare(run: Run, plan: Plan) -> Plan:
    """Look for more to search by, and tell what will be done."""
    once = plan.question.mode != "agent"  # who looks several times needs no more words for the first
    if plan.retrieves and once and expands(plan, run.settings.rag):
        plan = await run.step(expand, plan)
    run.emit(Planned(plan))
    return plan


async def chat(run: Run, plan: Plan) -> Answer:
    """Answer from the documents, or, where they are not asked about, without."""
    return await (respond if plan.retrieves else converse)(run, plan)


async def look_at(run: Run, plan: Plan) -> Answer:
    """Answer with pictures: from the documents and what is seen or read in them, or from that alone."""
    plan, seen = await run.step(see, plan)
    if not plan.retrieves:
        return await converse(run, plan, seen)
    return await respond(run, plan, seen)


async def investigate(run: Run, plan: Plan) -> Answer:
    """Let the model look things up step by step; where there is none, or it fails, rules do."""
    desk, hands, worked = desk_of(run), hands_of(run, plan), None
    if run.kit.llm is run.kit.extractive:
        run.note("agent", "there is no model to plan with (llm.*); the steps were planned by rules")
    else:
        worked = await run.attempt(None, work, plan, desk, hands)
    if worked is None and not desk.hits:
        await run.step(follow, plan, desk, hands)
    made, prompt = worked or await extracted(run, plan, desk)
    return await concluded(run, plan, desk, made, prompt)


def desk_of(run: Run) -> Desk:
    """An empty desk to look things up at."""
    return Desk(Prompts.of(run).get("agent/source"), tokenizer(run.settings.chunking.tokenizer))


async def extracted(run: Run, plan: Plan, desk: Desk) -> tuple[Draft | None, Prompt]:
    """What code chooses from the desk where no model writes; nothing where nothing lies there."""
    prompt = Prompt(plan.text, (), tuple(desk.hits), 0)
    return (await run.step(extract, prompt) if desk.hits else None), prompt


async def concluded(run: Run, plan: Plan, desk: Desk, made: Draft | None, prompt: Prompt) -> Answer:
    """What was looked up, as an answer that says how."""
    evidence = await run.step(refine, plan, desk.hits)
    if made is None or not desk.hits:
        final = await run.step(nothing_found, plan, evidence)
    else:
        final = await checked(run, plan, evidence, prompt, made)
    metadata = replace(final.metadata, plan=(*final.metadata.plan, *plan_of(desk.steps)), steps=tuple(desk.steps))
    return replace(final, metadata=metadata, degraded=tuple(run.degraded))


def hands_of(run: Run, plan: Plan) -> Hands:
    """What tools work with: the caller's rights and the question's filters are in all of it."""
    filters, shelf = plan.question.filters, run.kit.shelf

    async def find_passages(queries: Sequence[str]) -> list[Hit]:
        first, *others = queries
        asked = replace(
            plan.question, text=first, also=tuple(others), many=True, standalone=None, corrected=None, guessed=False,
            conversation=(), session_id=None, mode="chat", retrieve=True,
        )  # fmt: skip
        asked = await run.step(guard_in, asked, answered=False)
        looking = await run.step(understand, asked, answered=False)
        warned = len(run.warnings)
        hits = await run.step(sift, looking, apart(await gather(run, looking)))
        del run.warnings[warned:]  # that one of several searches brought nothing is for the model to know
        return hits

    async def read(reading: Reading) -> tuple[Opened, Sequence[Hit]]:
        assert shelf is not None
        opened = await shelf.read(reading, scope=run.scope, filters=filters)
        return opened, await run.step(weigh, plan, opened.passages)

    async def find(reading: Reading, text: str) -> tuple[Opened, Sequence[Hit]]:
        assert shelf is not None
        opened = await shelf.find(reading, text, scope=run.scope, filters=filters)
        return opened, await run.step(weigh, plan, opened.passages)

    return Hands(find_passages, read, find)


async def respond(run: Run, plan: Plan, seen: Seen = NOTHING_SEEN) -> Answer:
    """Find, assemble, write, check: every stage once, top to bottom."""
    plan, evidence = await support(run, plan)
    if not evidence.hits and seen.pictures:
        return await converse(run, plan, seen)
    if not evidence.hits:
        return await run.step(nothing_found, plan, evidence)  # no model is asked
    prompt = await run.step(assemble, plan, evidence)
    if not prompt.sources:
        run.note("assemble", "no passage fits into the prompt; raise context.max_tokens or llm.window")
        return await run.step(nothing_found, plan, evidence)
    prompt = shown(prompt, seen, run.settings.chunking.tokenizer)
    return await checked(run, plan, evidence, prompt, await drafted(run, prompt))


async def checked(run: Run, plan: Plan, evidence: Evidence, prompt: Prompt, made: Draft) -> Answer:
    """The draft as an answer: every citation resolved, and where it stands in its file."""
    final = await run.step(ground, plan, evidence, prompt, made)
    if any(source.cited and source.place for source in final.sources):
        final = await run.attempt(final, place, prompt, final)
    return replace(final, degraded=tuple(run.degraded))


async def drafted(run: Run, prompt: Prompt) -> Draft:
    """What the model writes, once or in several drafts; where it does not, what code chooses."""
    several = run.settings.answers.ensemble_voting and run.kit.llm is not run.kit.extractive
    made = await run.attempt(None, ensemble if several else generate, prompt)
    return await run.step(extract, prompt) if made is None else made


async def ensemble(run: Run, prompt: Prompt) -> Draft:
    """Several drafts at once, and of these the one that the others agree with."""
    prompts = variations(prompt, run.kit.llm.name, run.settings.answers.drafts)
    drafts, missing = await written([run.step(draft, one) for one in prompts])
    if missing:
        run.note("ensemble", missing)
    return await run.step(vote, prompt, drafts)


async def converse(run: Run, plan: Plan, seen: Seen = NOTHING_SEEN) -> Answer:
    """Answer what no document is asked about."""
    prompt = await run.step(talk, plan)
    prompt = prompt and shown(prompt, seen, run.settings.chunking.tokenizer)
    said = None if prompt is None else await run.attempt(None, generate, prompt)
    return await run.step(unsourced, plan, said)


async def support(run: Run, plan: Plan) -> tuple[Plan, Evidence]:
    """Find what the answer may stand on, and say what was done; what is optional is left out, and noted, where it fails."""
    rag, hits = run.settings.rag, apart(await gather(run, plan))
    if hits and rag.expansion.enabled:
        hits = await run.attempt(hits, widen, plan, hits)
    hits = await run.step(sift, plan, hits)
    if hits and rag.second_look:
        plan, hits = await run.attempt((plan, hits), look_again, plan, hits)
    if hits and rag.verification_enabled and rag.verification_by == "model":
        hits = await run.attempt(hits, verify, plan, hits)
    return plan, await run.step(refine, plan, hits)


async def look_again(run: Run, plan: Plan, hits: list[Hit]) -> tuple[Plan, list[Hit]]:
    """Search once more for what of the question nothing found is about, and join both looks by rank."""
    text = toward(plan, await refine(run, plan, hits))
    run.observe(looked=bool(text))
    if not text:
        return plan, hits
    found = apart(await gather(run, aimed(plan, text)))
    both = capped(merged(hits, found, len(hits) + MORE), run.settings.rag.max_per_owner, run.caller.person)
    new = len({hit.chunk.key for hit in both} - {hit.chunk.key for hit in hits})
    run.observe(found=len(found), new=new, hits=[[hit.chunk.id, round(hit.score, 6)] for hit in both])
    return replace(plan, reasons=(*plan.reasons, f"second look: part of it was not covered; {new} new passages")), both


async def search(run: Run, question: Question) -> tuple[Plan, list[Hit]]:
    """Find passages for a question, or for several at once, without answering it."""
    question = await run.step(guard_in, question, answered=False)
    if question.strategy != "lexical_only":  # few are misspelt: it is embedded while its spelling is looked up
        await run.foresee(question.meant)
    question = await run.attempt(question, correct, question)
    plan = await run.step(understand, question, answered=False)
    plan = await prepare(run, replace(plan, retrieves=True))
    return plan, await gather(run, plan)


async def gather(run: Run, plan: Plan) -> list[Hit]:
    """Retrieve, let the strategy's second stage look again, and put what was wanted into the final order."""
    hits = await run.step(retrieve, plan)
    if plan.strategy in SECOND:
        hits = await run.step(SECOND[plan.strategy], plan, hits)
    if plan.levels != (2,):
        hits = await run.step(lift, plan, hits)
    return await run.step(rank, plan, hits)


MODES: Mapping[Mode, Callable[[Run, Plan], Awaitable[Answer]]] = {
    "chat": chat,
    "general": converse,
    "agent": investigate,
    "vision": look_at,
}
"""How a question is answered in each mode."""
