"""Plan the answer to a question: strategy, searches, number of passages, levels."""

from collections.abc import Sequence
from dataclasses import replace

from pincite.config.branches.retrieval import Rag
from pincite.core.query.plan import Plan, QuestionAnalysis, Search
from pincite.core.query.question import Question, Strategy
from pincite.core.run import Run
from pincite.query.rank.diversity import diversifies
from pincite.query.understand.intent import analyse_question
from pincite.query.understand.level import summarize_level
from pincite.query.understand.small_talk import is_small_talk
from pincite.query.understand.strategy import STRATEGIES, choose_strategy, passage_count, uses_types

GUESSED_QUERY_WEIGHT = 0.3
"""Weight of a guessed query beside the question as asked; see docs/evaluation.md."""

MIN_LEVEL_CANDIDATES = 300
"""Minimum of passages retrieved where documents or sections are results: these are scored by their passages."""

EXTRA_QUERY_WEIGHT = 0.5
"""Weight of a query that the caller did not write: a part of the question, or one written by a model."""


async def query_analysis(run: Run, question: Question, *, answered: bool = True) -> Plan:
    """Classify the question; choose the strategy, the searches and the number of passages."""
    rag, text = run.settings.rag, question.search_text
    analysis = analyse_question(text)
    retrieval = needs_retrieval(question, rag, writes=run.kit.llm is not run.kit.extractive)
    level = summarize_level(question, run.settings, analysis, retrieval=retrieval) if answered else None
    strategy, reason = choose_strategy(question, rag, analysis, text)
    if level and level.is_chosen and question.strategy is None:
        reason = f"the level {level.level} says so"
    if level and level.is_chosen and level.left_out:
        run.degrade("level", f"mode {question.mode} does not use {', '.join(level.left_out)}")
    top_k, spec = passage_count(question, rag, strategy, analysis), STRATEGIES[strategy]
    levels = result_levels(question, rag, strategy, analysis)
    min_candidates = 0 if levels == (2,) else MIN_LEVEL_CANDIDATES
    plan = Plan(
        question,
        text,
        strategy,
        (),
        top_k,
        max(rag.candidates, spec.candidates, min_candidates, top_k),
        analysis,
        levels=levels,
        reads=max(spec.reads, min_candidates),
        rerank_top=0 if spec.reranked is None else max(spec.reranked, rag.rerank_top),
        retrieves=retrieval,
    )
    plan = replace(plan, reasons=(*_reasons(plan, rag, reason), *([level.to_text(analysis)] if level else [])))
    run.observe(
        strategy=strategy,
        strategy_because=reason,
        top_k=top_k,
        candidates=plan.candidates,
        levels=list(plan.levels),
        intent=analysis.intent,
        intent_confidence=analysis.intent_confidence,
        question_type=analysis.type,
        type_confidence=analysis.type_confidence,
        entities=len(analysis.entities),
        multi_hop=analysis.is_multi_hop,
        retrieves=plan.retrieves,
        **({"level": level.level, "level_because": level.reason} if level else {}),
    )
    return with_searches(plan)


def with_searches(plan: Plan, by_meaning: Sequence[str] = ()) -> Plan:
    """The plan with one search per engine and query; the queries in `by_meaning` are searched by vectors only."""
    asked = len(plan.searched) - len(plan.extra)
    guessed = (asked - 1 if plan.question.placed_beside else 0) if plan.question.guessed else None
    searches = tuple(
        Search(
            text,
            via,
            number,
            GUESSED_QUERY_WEIGHT if number == guessed else EXTRA_QUERY_WEIGHT if number >= asked else 1.0,
        )
        for number, text in enumerate(plan.searched)
        for via in STRATEGIES[plan.strategy].engines
        if via == "dense" or text not in by_meaning
    )
    return replace(plan, searches=searches)


def result_levels(question: Question, rag: Rag, strategy: Strategy, analysis: QuestionAnalysis) -> tuple[int, ...]:
    """The levels of the results: as requested; those that fit the question where strategy or settings say so."""
    if question.levels is not None:
        return tuple(sorted(set(question.levels)))
    return analysis.levels if strategy == "hierarchical" or uses_types(question, rag) else (2,)


def needs_retrieval(question: Question, rag: Rag, *, writes: bool = True) -> bool:
    """Whether documents are searched: as the mode of the question, the request or `rag.mode` says.

    Without a model that writes (`writes`), no quote can reply to small talk: it is not searched for.
    """
    if question.mode in ("general", "agent"):
        return question.mode == "agent"
    if question.retrieve is not None or rag.mode == "manual":
        return bool(question.retrieve)
    return (rag.mode == "always" and writes) or not is_small_talk(question.text)


def _reasons(plan: Plan, rag: Rag, reason: str) -> tuple[str, ...]:
    """The reasons for the plan, without any words of the question."""
    analysis = plan.analysis
    return (
        f"intent {analysis.intent} ({analysis.intent_confidence:.2f})",
        f"type {analysis.type} ({analysis.type_confidence:.2f})" + (", several steps" if analysis.is_multi_hop else ""),
        f"strategy {plan.strategy}: {reason}",
        f"{plan.top_k} passages"
        + (" for each query" if plan.max_results > plan.top_k else "")
        + (", spread over documents" if diversifies(plan, rag) else ""),
    )
