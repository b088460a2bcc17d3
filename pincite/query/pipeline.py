"""A question becomes an answer. Read this first."""

from pincite.core.answers import Answer, Hit, Plan, Question
from pincite.core.run import Run, Started
from pincite.query.assemble import assemble
from pincite.query.generate import extract, generate
from pincite.query.ground import ground, nothing_found
from pincite.query.guard import guard_in
from pincite.query.meet import meet
from pincite.query.recall import recall
from pincite.query.refine import rank, refine
from pincite.query.retrieve import retrieve
from pincite.query.rewrite import rewrite
from pincite.query.save import kept_when_cut, save
from pincite.query.understand import understand


async def answer(run: Run, question: Question) -> Answer:
    """Answer a question in its conversation, and keep the turn however it ends."""
    question = await run.step(guard_in, question)
    await run.step(meet)
    question = await run.step(recall, question)
    run.emit(Started(run.answer_id, run.id, question.session_id))
    async with kept_when_cut(run, question):
        question = await run.attempt(question, rewrite, question)
        plan = await run.step(understand, question)
        final = await respond(run, plan)
    return await run.finish(save, plan, final)


async def respond(run: Run, plan: Plan) -> Answer:
    """Find, assemble, write, check: every stage once, top to bottom."""
    evidence = await run.step(refine, plan, await gather(run, plan))
    if not evidence.hits:
        return await run.step(nothing_found, plan, evidence)  # no model is asked
    prompt = await run.step(assemble, plan, evidence)
    if not prompt.sources:
        run.note("assemble", "no passage fits into the prompt; raise context.max_tokens or llm.window")
        return await run.step(nothing_found, plan, evidence)
    draft = await run.attempt(None, generate, prompt)
    if draft is None:
        draft = await run.step(extract, prompt)
    return await run.step(ground, plan, evidence, prompt, draft)


async def search(run: Run, question: Question) -> tuple[Plan, list[Hit]]:
    """Find passages for a question, or for several at once, without answering it."""
    question = await run.step(guard_in, question)
    plan = await run.step(understand, question)
    return plan, await gather(run, plan)


async def gather(run: Run, plan: Plan) -> list[Hit]:
    """Retrieve, then put into the final order."""
    hits = await run.step(retrieve, plan)
    return await run.step(rank, plan, hits)
