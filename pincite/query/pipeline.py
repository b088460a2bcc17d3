"""A question becomes an answer. Read this first."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from pincite.core.answers import Answer, Draft, Evidence, Hit, Plan, Prompt, Question, Strategy
from pincite.core.run import Planned, Run, SourcesFound, Started
from pincite.query.again import MORE, aimed, merged, toward
from pincite.query.assemble import assemble
from pincite.query.cache import NOT_ASKED, keep, look_up, may_ask
from pincite.query.closer import look_closer
from pincite.query.converse import talk
from pincite.query.ensemble import variations, vote, written
from pincite.query.expand import expand, expands
from pincite.query.generate import draft, extract, generate
from pincite.query.ground import ground, nothing_found, unsourced
from pincite.query.guard import guard_in
from pincite.query.levels import apart, lift, rise
from pincite.query.meet import meet
from pincite.query.place import place
from pincite.query.rank import rank
from pincite.query.recall import recall
from pincite.query.refine import refine
from pincite.query.retrieve import retrieve
from pincite.query.rewrite import rewrite
from pincite.query.save import kept_when_cut, save
from pincite.query.sift import sift
from pincite.query.spelling import correct
from pincite.query.understand import understand
from pincite.query.verify import verify
from pincite.query.widen import widen

SECOND: Mapping[Strategy, Callable[[Run, Plan, Sequence[Hit]], Awaitable[list[Hit]]]] = {
    "two_stage": look_closer,
    "hierarchical": rise,
}
"""What looks again at the hits of a strategy that has a second stage."""


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
            final = await (respond if plan.retrieves else converse)(run, plan)
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
    if plan.retrieves and expands(plan, run.settings.rag):
        plan = await run.step(expand, plan)
    run.emit(Planned(plan))
    return plan


async def respond(run: Run, plan: Plan) -> Answer:
    """Find, assemble, write, check: every stage once, top to bottom."""
    plan, evidence = await support(run, plan)
    if not evidence.hits:
        return await run.step(nothing_found, plan, evidence)  # no model is asked
    prompt = await run.step(assemble, plan, evidence)
    if not prompt.sources:
        run.note("assemble", "no passage fits into the prompt; raise context.max_tokens or llm.window")
        return await run.step(nothing_found, plan, evidence)
    final = await run.step(ground, plan, evidence, prompt, await drafted(run, prompt))
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


async def converse(run: Run, plan: Plan) -> Answer:
    """Answer what no document is asked about."""
    prompt = await run.step(talk, plan)
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
    both = merged(hits, found, len(hits) + MORE)
    new = len({hit.chunk.key for hit in both} - {hit.chunk.key for hit in hits})
    run.observe(found=len(found), new=new, hits=[[hit.chunk.id, round(hit.score, 6)] for hit in both])
    return replace(plan, reasons=(*plan.reasons, f"second look: part of it was not covered; {new} new passages")), both


async def search(run: Run, question: Question) -> tuple[Plan, list[Hit]]:
    """Find passages for a question, or for several at once, without answering it."""
    question = await run.step(guard_in, question, answered=False)
    if question.strategy != "lexical_only":  # few are misspelt: it is embedded while its spelling is looked up
        run.foresee(question.meant)
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
