"""A question becomes an answer. Read this first."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from pincite.core.documents.document import ReadRequest
from pincite.core.protocols import Opened
from pincite.core.query.answer import Answer
from pincite.core.query.hits import Evidence, Hit
from pincite.core.query.plan import Plan
from pincite.core.query.prompt import Draft, Prompt
from pincite.core.query.question import Mode, Question, Strategy
from pincite.core.run import Planned, Run, SourcesFound, Started
from pincite.query.agent.loop import agent, plan_of
from pincite.query.agent.rule_based import agent_by_rules
from pincite.query.agent.scratchpad import Scratchpad
from pincite.query.agent.tools import ToolBackend
from pincite.query.cache.semantic_cache import NOT_ASKED, cache_lookup, cache_saving, may_ask
from pincite.query.citations.positions import citation_positions
from pincite.query.ensemble.drafts import gather_drafts, variations, voting
from pincite.query.evidence.coverage import evidence_selection
from pincite.query.evidence.expand_documents import document_expansion
from pincite.query.evidence.llm_verify import model_verification
from pincite.query.evidence.relevance_filter import relevance_filter
from pincite.query.generate.assemble import prompt_assembly
from pincite.query.generate.general_chat import general_prompt
from pincite.query.generate.generate import extractive_generation, llm_draft, llm_generation
from pincite.query.ground.ground import grounding, no_answer, no_retrieval
from pincite.query.prompt.budget import tokenizer
from pincite.query.prompt.templates import Prompts
from pincite.query.rank.hierarchy import drop_nested, level_promotion, parent_boost
from pincite.query.rank.proximity import proximity_boost
from pincite.query.rank.rank import capped, ranking
from pincite.query.rank.score_opened import passage_scoring
from pincite.query.retrieve.query_expansion import expands, query_expansion
from pincite.query.retrieve.retrieve import retrieval
from pincite.query.retrieve.second_pass import MORE, merge, next_query, plan_for
from pincite.query.save import history_saving, kept_when_cut
from pincite.query.understand.guard import guardrails, model_lookup
from pincite.query.understand.history import history_lookup
from pincite.query.understand.rewrite import query_rewriting
from pincite.query.understand.spelling import spelling_correction
from pincite.query.understand.understand import query_analysis
from pincite.query.understand.vision import PictureContext, picture_reading, shown

SECOND: Mapping[Strategy, Callable[[Run, Plan, Sequence[Hit]], Awaitable[list[Hit]]]] = {
    "two_stage": proximity_boost,
    "hierarchical": parent_boost,
}
"""What looks again at the hits of a strategy that has a second stage."""
NOTHING_SEEN = PictureContext()


async def answer(run: Run, question: Question) -> Answer:
    """Answer a question in its conversation, and keep the turn however it ends."""
    question = await run.step(guardrails, question)
    await run.step(model_lookup)
    question = await run.step(history_lookup, question)
    run.emit(Started(run.answer_id, run.id, question.session_id))
    async with kept_when_cut(run, question):
        question = await run.attempt(question, query_rewriting, question)
        question = await run.attempt(question, spelling_correction, question)
        plan = await run.step(query_analysis, question)
        known = await run.attempt(NOT_ASKED, cache_lookup, plan) if may_ask(run, plan) else NOT_ASKED
        if known.answer:
            final = repeat(run, plan, known.answer)
        else:
            plan = await prepare(run, plan)
            final = await MODES[question.mode](run, plan)
        final = replace(final, mode=question.mode)
    final = await run.finish(history_saving, plan, final)
    if known.state is not None and not known.answer:
        await run.finish(cache_saving, plan, final, known)
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
        plan = await run.step(query_expansion, plan)
    run.emit(Planned(plan))
    return plan


async def chat(run: Run, plan: Plan) -> Answer:
    """Answer from the documents, or, where they are not asked about, without."""
    return await (answer_from_documents if plan.retrieves else answer_without_documents)(run, plan)


async def answer_with_pictures(run: Run, plan: Plan) -> Answer:
    """Answer with pictures: from the documents and what is seen or read in them, or from that alone."""
    plan, seen = await run.step(picture_reading, plan)
    if not plan.retrieves:
        return await answer_without_documents(run, plan, seen)
    return await answer_from_documents(run, plan, seen)


async def answer_by_agent(run: Run, plan: Plan) -> Answer:
    """Let the model look things up step by step; where there is none, or it fails, rules do."""
    desk, hands, worked = new_scratchpad(run), tool_backend(run, plan), None
    if run.kit.llm is run.kit.extractive:
        run.degrade("agent", "there is no model to plan with (llm.*); the steps were planned by rules")
    else:
        worked = await run.attempt(None, agent, plan, desk, hands)
    if worked is None and not desk.hits:
        await run.step(agent_by_rules, plan, desk, hands)
    made, prompt = worked or await extract_draft(run, plan, desk)
    return await finish_answer(run, plan, desk, made, prompt)


def new_scratchpad(run: Run) -> Scratchpad:
    """An empty desk to look things up at."""
    return Scratchpad(Prompts.of(run).get("agent/source"), tokenizer(run.settings.chunking.tokenizer))


async def extract_draft(run: Run, plan: Plan, desk: Scratchpad) -> tuple[Draft | None, Prompt]:
    """What code chooses from the desk where no model writes; nothing where nothing lies there."""
    prompt = Prompt(plan.text, (), tuple(desk.hits), 0)
    return (await run.step(extractive_generation, prompt) if desk.hits else None), prompt


async def finish_answer(run: Run, plan: Plan, desk: Scratchpad, made: Draft | None, prompt: Prompt) -> Answer:
    """What was looked up, as an answer that says how."""
    evidence = await run.step(evidence_selection, plan, desk.hits)
    if made is None or not desk.hits:
        final = await run.step(no_answer, plan, evidence)
    else:
        final = await ground_draft(run, plan, evidence, prompt, made)
    metadata = replace(final.metadata, plan=(*final.metadata.plan, *plan_of(desk.steps)), steps=tuple(desk.steps))
    return replace(final, metadata=metadata, degraded=tuple(run.degraded))


def tool_backend(run: Run, plan: Plan) -> ToolBackend:
    """What tools work with: the caller's rights and the question's filters are in all of it."""
    filters, shelf = plan.question.filters, run.kit.document_reader

    async def find_passages(queries: Sequence[str]) -> list[Hit]:
        first, *others = queries
        asked = replace(
            plan.question, text=first, also=tuple(others), many=True, standalone=None, corrected=None, guessed=False,
            conversation=(), session_id=None, mode="chat", retrieve=True,
        )  # fmt: skip
        asked = await run.step(guardrails, asked, answered=False)
        looking = await run.step(query_analysis, asked, answered=False)
        warned = len(run.warnings)
        hits = await run.step(relevance_filter, looking, drop_nested(await gather(run, looking)))
        del run.warnings[warned:]  # that one of several searches brought nothing is for the model to know
        return hits

    async def read(reading: ReadRequest) -> tuple[Opened, Sequence[Hit]]:
        assert shelf is not None
        opened = await shelf.read(reading, scope=run.scope, filters=filters)
        return opened, await run.step(passage_scoring, plan, opened.passages)

    async def find(reading: ReadRequest, text: str) -> tuple[Opened, Sequence[Hit]]:
        assert shelf is not None
        opened = await shelf.find(reading, text, scope=run.scope, filters=filters)
        return opened, await run.step(passage_scoring, plan, opened.passages)

    return ToolBackend(find_passages, read, find)


async def answer_from_documents(run: Run, plan: Plan, seen: PictureContext = NOTHING_SEEN) -> Answer:
    """Find, assemble, write, check: every stage once, top to bottom."""
    plan, evidence = await collect_evidence(run, plan)
    if not evidence.hits and seen.pictures:
        return await answer_without_documents(run, plan, seen)
    if not evidence.hits:
        return await run.step(no_answer, plan, evidence)  # no model is asked
    prompt = await run.step(prompt_assembly, plan, evidence)
    if not prompt.sources:
        run.degrade("prompt_assembly", "no passage fits into the prompt; raise context.max_tokens or llm.window")
        return await run.step(no_answer, plan, evidence)
    prompt = shown(prompt, seen, run.settings.chunking.tokenizer)
    return await ground_draft(run, plan, evidence, prompt, await write_draft(run, prompt))


async def ground_draft(run: Run, plan: Plan, evidence: Evidence, prompt: Prompt, made: Draft) -> Answer:
    """The draft as an answer: every citation resolved, and where it stands in its file."""
    final = await run.step(grounding, plan, evidence, prompt, made)
    if any(source.cited and source.place for source in final.sources):
        final = await run.attempt(final, citation_positions, prompt, final)
    return replace(final, degraded=tuple(run.degraded))


async def write_draft(run: Run, prompt: Prompt) -> Draft:
    """What the model writes, once or in several drafts; where it does not, what code chooses."""
    several = run.settings.answers.ensemble_voting and run.kit.llm is not run.kit.extractive
    made = await run.attempt(None, ensemble if several else llm_generation, prompt)
    return await run.step(extractive_generation, prompt) if made is None else made


async def ensemble(run: Run, prompt: Prompt) -> Draft:
    """Several drafts at once, and of these the one that the others agree with."""
    prompts = variations(prompt, run.kit.llm.name, run.settings.answers.drafts)
    drafts, missing = await gather_drafts([run.step(llm_draft, one) for one in prompts])
    if missing:
        run.degrade("ensemble", missing)
    return await run.step(voting, prompt, drafts)


async def answer_without_documents(run: Run, plan: Plan, seen: PictureContext = NOTHING_SEEN) -> Answer:
    """Answer what no document is asked about."""
    prompt = await run.step(general_prompt, plan)
    prompt = prompt and shown(prompt, seen, run.settings.chunking.tokenizer)
    said = None if prompt is None else await run.attempt(None, llm_generation, prompt)
    return await run.step(no_retrieval, plan, said)


async def collect_evidence(run: Run, plan: Plan) -> tuple[Plan, Evidence]:
    """Find what the answer may stand on, and say what was done; what is optional is left out, and noted, where it fails."""
    rag, hits = run.settings.rag, drop_nested(await gather(run, plan))
    if hits and rag.expansion.enabled:
        hits = await run.attempt(hits, document_expansion, plan, hits)
    hits = await run.step(relevance_filter, plan, hits)
    if hits and rag.second_look:
        plan, hits = await run.attempt((plan, hits), second_look, plan, hits)
    if hits and rag.verification_enabled and rag.verification_by == "model":
        hits = await run.attempt(hits, model_verification, plan, hits)
    return plan, await run.step(evidence_selection, plan, hits)


async def second_look(run: Run, plan: Plan, hits: list[Hit]) -> tuple[Plan, list[Hit]]:
    """Search once more for what of the question nothing found is about, and join both looks by rank."""
    text = next_query(plan, await evidence_selection(run, plan, hits))
    run.observe(looked=bool(text))
    if not text:
        return plan, hits
    found = drop_nested(await gather(run, plan_for(plan, text)))
    both = capped(merge(hits, found, len(hits) + MORE), run.settings.rag.max_per_owner, run.caller.person)
    new = len({hit.chunk.key for hit in both} - {hit.chunk.key for hit in hits})
    run.observe(found=len(found), new=new, hits=[[hit.chunk.id, round(hit.score, 6)] for hit in both])
    return replace(plan, reasons=(*plan.reasons, f"second look: part of it was not covered; {new} new passages")), both


async def search(run: Run, question: Question) -> tuple[Plan, list[Hit]]:
    """Find passages for a question, or for several at once, without answering it."""
    question = await run.step(guardrails, question, answered=False)
    if question.strategy != "lexical_only":  # few are misspelt: it is embedded while its spelling is looked up
        await run.prefetch_embedding(question.meant)
    question = await run.attempt(question, spelling_correction, question)
    plan = await run.step(query_analysis, question, answered=False)
    plan = await prepare(run, replace(plan, retrieves=True))
    return plan, await gather(run, plan)


async def gather(run: Run, plan: Plan) -> list[Hit]:
    """Retrieve, let the strategy's second stage look again, and put what was wanted into the final order."""
    hits = await run.step(retrieval, plan)
    if plan.strategy in SECOND:
        hits = await run.step(SECOND[plan.strategy], plan, hits)
    if plan.levels != (2,):
        hits = await run.step(level_promotion, plan, hits)
    return await run.step(ranking, plan, hits)


MODES: Mapping[Mode, Callable[[Run, Plan], Awaitable[Answer]]] = {
    "chat": chat,
    "general": answer_without_documents,
    "agent": answer_by_agent,
    "vision": answer_with_pictures,
}
"""How a question is answered in each mode."""
