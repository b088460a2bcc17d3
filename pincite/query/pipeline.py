"""A question becomes an answer. Read this first.

A stage is an async function that `run.step` (required), `run.attempt` (optional: degrades) or `run.finish` (always)
runs. Its name is its span in the trace and its name in `degraded`. Stages do not run stages: this module does, and the
loops in `agent/loop.py` and `flows/run.py`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from pincite.core.documents.document import ReadRequest
from pincite.core.protocols import DocumentExtract
from pincite.core.query.answer import Answer
from pincite.core.query.hits import Evidence, Hit
from pincite.core.query.plan import Plan
from pincite.core.query.prompt import Draft, Prompt
from pincite.core.query.question import Question, Strategy
from pincite.core.run import PassagesFound, Planned, Run, SourcesFound, Started
from pincite.query.agent.loop import agent, steps_as_plan
from pincite.query.agent.rule_based import agent_by_rules
from pincite.query.agent.scratchpad import Scratchpad
from pincite.query.agent.tools import MAX_QUERIES, ToolBackend
from pincite.query.cache.semantic_cache import NO_LOOKUP, cache_lookup, cache_saving, may_use_cache
from pincite.query.citations.marks import cited_beyond
from pincite.query.citations.positions import citation_positions
from pincite.query.ensemble.drafts import gather_drafts, variations, voting
from pincite.query.evidence.coverage import evidence_selection
from pincite.query.evidence.expand_documents import document_expansion
from pincite.query.evidence.llm_verify import model_verification
from pincite.query.evidence.read_documents import NOTHING_OPENED, document_reading, needs_documents, with_opened
from pincite.query.evidence.relevance_filter import relevance_filter
from pincite.query.evidence.sides import missing_sides, named_in, said_in, sides_of, with_sides
from pincite.query.evidence.whole_tables import needs_table, table_query, table_reading
from pincite.query.generate.assemble import prompt_assembly
from pincite.query.generate.general_chat import general_prompt
from pincite.query.generate.generate import extractive_draft, extractive_generation, llm_draft, llm_generation
from pincite.query.graph.context import graph_context
from pincite.query.ground.better_draft import is_better, is_unsupported, replaced, replacement_warning
from pincite.query.ground.check_claims import ClaimCheck, claim_check
from pincite.query.ground.ground import grounding, no_answer, no_retrieval
from pincite.query.ground.llm_judge import claim_verification
from pincite.query.ground.suggestions import suggested_questions
from pincite.query.history import history_lookup, history_saving, saved_if_interrupted
from pincite.query.prompt.budget import tokenizer
from pincite.query.prompt.templates import Prompts
from pincite.query.rank.hierarchy import drop_nested, level_promotion, parent_boost
from pincite.query.rank.proximity import proximity_boost
from pincite.query.rank.rank import cap_per_owner, ranking, reranking, reranks
from pincite.query.rank.score_opened import passage_scoring
from pincite.query.retrieve.query_expansion import expands, model_calls, with_queries
from pincite.query.retrieve.retrieve import retrieval
from pincite.query.retrieve.second_pass import EXTRA_PASSAGES, merge, next_query, plan_for
from pincite.query.understand.analysis import query_analysis
from pincite.query.understand.guard import guardrails, model_lookup
from pincite.query.understand.rewrite import query_rewriting
from pincite.query.understand.spelling import spelling_correction
from pincite.query.understand.vision import PictureContext, picture_reading, with_pictures

SECOND_STAGE: Mapping[Strategy, Callable[[Run, Plan, Sequence[Hit]], Awaitable[list[Hit]]]] = {
    "two_stage": proximity_boost,
    "hierarchical": parent_boost,
}
"""The stage that rescores the hits of a strategy with two stages."""
NO_PICTURES = PictureContext()


async def answer(run: Run, question: Question) -> Answer:
    """Answer a question and save it in its conversation, also when it is interrupted."""
    question = await run.step(guardrails, question)
    await run.step(model_lookup)
    question = await run.step(history_lookup, question)
    run.emit(Started(run.answer_id, run.id, question.session_id))
    async with saved_if_interrupted(run, question):
        question = await run.attempt(question, query_rewriting, question)
        question = await run.attempt(question, spelling_correction, question)
        plan = await run.step(query_analysis, question)
        cached = await run.attempt(NO_LOOKUP, cache_lookup, plan) if may_use_cache(run, plan) else NO_LOOKUP
        if cached.answer:
            final = repeat(run, plan, cached.answer)
        elif question.mode == "agent":
            final = await answer_by_agent(run, plan)
        else:
            plan = await expand(run, plan)  # step_back, hyde, query_variations
            plan, pictures = await run.step(picture_reading, plan) if question.mode == "vision" else (plan, NO_PICTURES)
            hits = await find(run, plan) if plan.retrieves else []  # retrieval … ranking
            if hits:
                run.emit(PassagesFound(tuple(hits)))
            plan, evidence = await select(run, plan, hits)  # relevance_filter … evidence_selection
            if not plan.retrieves or (pictures.pictures and not evidence.hits):
                final = await answer_without_documents(run, plan, pictures)
            else:
                prompt = await assemble(run, plan, evidence, pictures)  # prompt_assembly
                draft = await write(run, prompt)  # llm_generation or extractive_generation
                final = await check(run, plan, evidence, prompt, draft)  # claim_check … grounding
        final = replace(final, mode=question.mode)
    final = await run.finish(history_saving, plan, final)
    if cached.state is not None and not cached.answer:
        await run.finish(cache_saving, plan, final, cached)
    return final


async def search(run: Run, question: Question) -> tuple[Plan, list[Hit]]:
    """Find passages for one query, or for several at once, without answering."""
    question = await run.step(guardrails, question, answered=False)
    if question.strategy != "lexical_only":  # few queries are misspelt: embed them while the spelling is checked
        await run.prefetch_queries([question.search_text, *question.also])
    question = await run.attempt(question, spelling_correction, question)
    plan = await run.step(query_analysis, question, answered=False)
    plan = await expand(run, replace(plan, retrieves=True))
    return plan, await find(run, plan)


# --- the parts of an answer, in their order -----------------------------------------------------------------


async def expand(run: Run, plan: Plan) -> Plan:
    """Add further queries where the settings or the strategy ask for them, and announce the plan."""
    if plan.retrieves and expands(plan, run.settings.rag):
        plan = await run.step(query_expansion, plan)
    run.emit(Planned(plan))
    return plan


async def query_expansion(run: Run, plan: Plan) -> Plan:
    """The plan with queries written by the model, all asked for at once, and with the parts of the question."""
    calls = model_calls(plan, run.settings.rag)
    if run.kit.llm is run.kit.extractive:
        for call in calls:
            run.degrade(call.__name__, "it needs a language model, and none is configured (llm.*)")
        calls = []
    nothing: Sequence[str] = ()
    written = await asyncio.gather(*(run.attempt(nothing, call, plan) for call in calls))
    return with_queries(run, plan, calls, written)


async def find(run: Run, plan: Plan) -> list[Hit]:
    """The hits of a search, in their final order."""
    hits = await run.step(retrieval, plan)
    if plan.strategy in SECOND_STAGE:
        hits = await run.step(SECOND_STAGE[plan.strategy], plan, hits)
    if plan.levels != (2,):
        hits = await run.step(level_promotion, plan, hits)
    if reranks(run, plan, hits):
        hits = await run.attempt(hits, reranking, plan, hits)
    return await run.step(ranking, plan, hits)


async def select(run: Run, plan: Plan, hits: Sequence[Hit]) -> tuple[Plan, Evidence]:
    """The passages that the answer may use."""
    rag, kept = run.settings.rag, drop_nested(hits)
    if not plan.retrieves:
        return plan, Evidence((), 0.0)
    kept = await run.step(relevance_filter, plan, kept)
    if kept and rag.second_look:
        plan, kept = await run.attempt((plan, kept), second_look, plan, kept)
    if kept and rag.verification_enabled and rag.verification_by == "model":
        kept = await run.attempt(kept, model_verification, plan, kept)
    if kept and missing_sides(sides_of(plan), kept):
        kept = await run.attempt(kept, side_search, plan, kept, hits)
    if kept and rag.expansion.enabled:  # of the documents that were verified; what is added is not verified again
        kept = await run.attempt(kept, document_expansion, plan, kept)
    if needs_documents(run, plan):
        opened = await run.attempt(NOTHING_OPENED, document_reading, plan, kept)
        kept = with_opened(kept, await run.step(passage_scoring, plan, opened.passages), opened)
    evidence = await run.step(evidence_selection, plan, kept)
    if run.kit.llm is run.kit.extractive and needs_table(plan.text):
        evidence = await run.attempt(evidence, complete_tables, plan, evidence, hits)
    if run.graph_seeds is not None and evidence.hits:
        evidence = await run.attempt(evidence, graph_context, plan, evidence)
    return plan, evidence


async def side_search(run: Run, plan: Plan, kept: Sequence[Hit], hits: Sequence[Hit]) -> list[Hit]:
    """The hits, and passages about each side of a comparison that is named in none: found before, or searched for."""
    missing, found = missing_sides(sides_of(plan), kept), list[list[Hit]]()
    for side in missing:
        more = named_in(side, hits) or drop_nested(await find(run, plan_for(plan, side)))
        found.append(named_in(side, more) or said_in(side, [*kept, *hits]) or said_in(side, more))
    both = with_sides(kept, found)
    run.observe(missing=len(missing), added=len(both) - len(kept))
    return both


async def complete_tables(run: Run, plan: Plan, evidence: Evidence, hits: Sequence[Hit]) -> Evidence:
    """Read all rows of the tables found; where a value is to be computed, search once more for the table."""
    query = table_query(plan.text)
    more = await find(run, plan_for(plan, query)) if query else []
    return await run.step(table_reading, plan, evidence, [*hits, *more])


async def second_look(run: Run, plan: Plan, hits: list[Hit]) -> tuple[Plan, list[Hit]]:
    """Search once more for the parts of the question that no hit covers, and merge both results by rank."""
    query = next_query(plan, await evidence_selection(run, plan, hits))
    run.observe(looked=bool(query))
    if not query:
        return plan, hits
    more = drop_nested(await find(run, plan_for(plan, query)))
    merged = merge(hits, more, len(hits) + EXTRA_PASSAGES)
    both = cap_per_owner(merged, run.settings.rag.max_per_owner, run.caller.person)
    new = len({hit.chunk.key for hit in both} - {hit.chunk.key for hit in hits})
    run.observe(found=len(more), new=new, hits=[[hit.chunk.id, round(hit.score, 6)] for hit in both])
    return replace(plan, reasons=(*plan.reasons, f"second look: part of it was not covered; {new} new passages")), both


async def assemble(run: Run, plan: Plan, evidence: Evidence, pictures: PictureContext) -> Prompt | None:
    """The prompt; None where no passage was found or fits."""
    if not evidence.hits:
        return None
    prompt = await run.step(prompt_assembly, plan, evidence)
    if not prompt.sources:
        run.degrade("prompt_assembly", "no passage fits into the prompt; raise context.max_tokens or llm.window")
        return None
    return with_pictures(prompt, pictures, run.settings.chunking.tokenizer)


async def write(run: Run, prompt: Prompt | None) -> Draft | None:
    """What the language model writes, in one draft or in several; where it fails, sentences chosen by code."""
    if prompt is None:
        return None
    several = run.settings.answers.ensemble_voting and run.kit.llm is not run.kit.extractive
    draft = await run.attempt(None, ensemble if several else llm_generation, prompt)
    return draft or await run.step(extractive_generation, prompt)


async def ensemble(run: Run, prompt: Prompt) -> Draft:
    """Several drafts, written at once, and of these the one that the others agree with."""
    prompts = variations(prompt, run.kit.llm.name, run.settings.answers.drafts)
    drafts, missing = await gather_drafts([run.step(llm_draft, one) for one in prompts])
    if missing:
        run.degrade("ensemble", missing)
    return await run.step(voting, prompt, drafts)


async def check(run: Run, plan: Plan, evidence: Evidence, prompt: Prompt | None, draft: Draft | None) -> Answer:
    """The draft as an answer: every claim compared with its sources, every citation resolved."""
    if prompt is None or draft is None:
        return await run.step(no_answer, plan, evidence)
    if run.settings.citations.form == "title" and not draft.quotes:  # titles are matched with all passages found
        prompt = replace(prompt, sources=(*prompt.sources, *cited_beyond(draft.text, prompt.sources, evidence.hits)))
    claims = await run.step(claim_check, prompt.sources, draft, prompt.question)
    if run.settings.grounding.judge == "model" and claims.verdicts and not claims.copied:
        claims = await run.attempt(claims, claim_verification, prompt.sources, claims)
    if run.settings.grounding.replace_unsupported and is_unsupported(prompt, draft, claims):
        draft, claims = await better_supported(run, prompt, draft, claims)
    final = await run.step(grounding, plan, evidence, prompt, draft, claims)
    cited = {source.number for source in final.sources if source.cited}
    suggested = await run.finish(suggested_questions, plan, evidence, cited, draft.suggested_questions)
    final = replace(final, suggested_questions=suggested)
    if any(source.cited and source.place for source in final.sources):
        final = await run.attempt(final, citation_positions, prompt, final)
    return replace(final, degraded=tuple(run.degraded))


async def better_supported(run: Run, prompt: Prompt, draft: Draft, claims: ClaimCheck) -> tuple[Draft, ClaimCheck]:
    """The model's draft, or the sentences that code quotes where these are better supported."""
    quoted = await run.attempt(None, extractive_draft, prompt)
    if quoted is None:
        return draft, claims
    check_of_quoted = await run.step(claim_check, prompt.sources, quoted, prompt.question)
    if not is_better(quoted, check_of_quoted, claims):
        return draft, claims
    run.warnings.append(replacement_warning(draft, quoted, claims))
    return replaced(draft, quoted), check_of_quoted


# --- other ways to an answer --------------------------------------------------------------------------------


def repeat(run: Run, plan: Plan, cached: Answer) -> Answer:
    """A cached answer, announced like a new one."""
    run.emit(Planned(plan))
    run.emit(SourcesFound(cached.sources))
    return cached


async def answer_without_documents(run: Run, plan: Plan, pictures: PictureContext = NO_PICTURES) -> Answer:
    """Answer a question that is not about the documents: by the model alone, or with a fixed sentence."""
    return await run.step(no_retrieval, plan, await write_without_documents(run, plan, pictures))


async def write_without_documents(run: Run, plan: Plan, pictures: PictureContext = NO_PICTURES) -> Draft | None:
    """What the model writes without any document; None where no model is configured, or where it fails."""
    prompt = await run.step(general_prompt, plan)
    prompt = prompt and with_pictures(prompt, pictures, run.settings.chunking.tokenizer)
    return None if prompt is None else await run.attempt(None, llm_generation, prompt)


async def answer_by_agent(run: Run, plan: Plan) -> Answer:
    """Let the model search and read step by step; without a model, or where it fails, rules do."""
    run.emit(Planned(plan))
    scratchpad, backend, written = new_scratchpad(run), tool_backend(run, plan), None
    if run.kit.llm is run.kit.extractive:
        run.degrade("agent", "there is no model to plan with (llm.*); the steps were planned by rules")
    else:
        written = await run.attempt(None, agent, plan, scratchpad, backend)
    if written is None and not scratchpad.hits:
        await run.step(agent_by_rules, plan, scratchpad, backend)
    draft, prompt = written or await extract_draft(run, plan, scratchpad)
    return await finish_steps(run, plan, scratchpad, draft, prompt)


async def extract_draft(run: Run, plan: Plan, scratchpad: Scratchpad) -> tuple[Draft | None, Prompt]:
    """Sentences that code chooses from the scratchpad; no draft where it is empty."""
    prompt = Prompt(plan.text, (), tuple(scratchpad.hits), 0)
    return (await run.step(extractive_generation, prompt) if scratchpad.hits else None), prompt


async def finish_steps(run: Run, plan: Plan, scratchpad: Scratchpad, draft: Draft | None, prompt: Prompt) -> Answer:
    """The answer of an agent or a flow, with the steps that led to it."""
    evidence = await run.step(evidence_selection, plan, scratchpad.hits)
    final = await check(run, plan, evidence, prompt if scratchpad.hits else None, draft)
    steps = tuple(scratchpad.steps)
    metadata = replace(final.metadata, plan=(*final.metadata.plan, *steps_as_plan(steps)), steps=steps)
    return replace(final, metadata=metadata, degraded=tuple(run.degraded))


def new_scratchpad(run: Run) -> Scratchpad:
    """An empty scratchpad for an agent or a flow."""
    return Scratchpad(Prompts.of(run).get("agent/source"), tokenizer(run.settings.chunking.tokenizer))


def tool_backend(run: Run, plan: Plan) -> ToolBackend:
    """What tools search and read with: the caller's permissions and the question's filters apply to all of it."""
    filters, reader = plan.question.filters, run.kit.document_reader

    async def find_passages(queries: Sequence[str]) -> list[Hit]:
        first, *others = queries
        asked = replace(
            plan.question,
            text=first,
            also=tuple(others),
            many=True,
            query=None,
            standalone=None,
            corrected=None,
            guessed=False,
            conversation=(),
            session_id=None,
            mode="chat",
            retrieve=True,
        )
        asked = await run.step(guardrails, asked, answered=False, max_queries=MAX_QUERIES)
        tool_plan = await run.step(query_analysis, asked, answered=False)
        warned = len(run.warnings)
        hits = await run.step(relevance_filter, tool_plan, drop_nested(await find(run, tool_plan)))
        del run.warnings[warned:]  # that one of several searches found nothing is for the model to know
        return hits

    async def read(request: ReadRequest) -> tuple[DocumentExtract, Sequence[Hit]]:
        assert reader is not None
        opened = await reader.read(request, scope=run.scope, filters=filters)
        return opened, await run.step(passage_scoring, plan, opened.passages)

    async def find_text(request: ReadRequest, text: str) -> tuple[DocumentExtract, Sequence[Hit]]:
        assert reader is not None
        opened = await reader.find(request, text, scope=run.scope, filters=filters)
        return opened, await run.step(passage_scoring, plan, opened.passages)

    return ToolBackend(find_passages, read, find_text)
