"""What to do about a question → Plan."""

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
from pincite.query.understand.strategy import STRATEGIES, choose_strategy, passage_count

GUESSED_QUERY_WEIGHT = 0.3
"""What a guessed meaning counts beside the words that were asked; see docs/evaluation.md."""

MIN_LEVEL_CANDIDATES = 300
"""Documents and sections are made of passages: so many of these are looked at, at least."""

EXTRA_QUERY_WEIGHT = 0.5
"""What a place for a text nobody asked counts: a part of the question, or what a model made of it."""


async def query_analysis(run: Run, question: Question, *, answered: bool = True) -> Plan:
    """Say what kind of question it is; choose the strategy, the searches and how many passages are wanted."""
    rag, text = run.settings.rag, question.meant
    reading = analyse_question(text)
    looks = needs_retrieval(question, rag)
    effort = summarize_level(question, run.settings, reading, looks=looks) if answered else None
    strategy, why = choose_strategy(question, rag, reading, text)
    if effort and effort.decides and question.strategy is None:
        why = f"the level {effort.level} says so"
    if effort and effort.decides and effort.left_out:
        run.degrade("level", f"mode {question.mode} goes without {', '.join(effort.left_out)}")
    top_k, way = passage_count(question, rag, strategy, reading), STRATEGIES[strategy]
    levels = result_levels(question, strategy, reading)
    wide = 0 if levels == (2,) else MIN_LEVEL_CANDIDATES
    plan = Plan(
        question, text, strategy, (), top_k, max(rag.candidates, way.candidates, wide, top_k), reading,
        levels=levels, reads=max(way.reads, wide),
        rerank_top=0 if way.reranked is None else max(way.reranked, rag.rerank_top),
        retrieves=looks,
    )  # fmt: skip
    plan = replace(plan, reasons=(*_reasons(plan, rag, why), *([effort.told(reading)] if effort else [])))
    run.observe(
        strategy=strategy, strategy_because=why, top_k=top_k, candidates=plan.candidates, levels=list(plan.levels),
        intent=reading.intent, intent_confidence=reading.intent_confidence, question_type=reading.type,
        type_confidence=reading.type_confidence, entities=len(reading.entities), multi_hop=reading.is_multi_hop,
        retrieves=plan.retrieves, **({"level": effort.level, "level_because": effort.because} if effort else {}),
    )  # fmt: skip
    return with_searches(plan)


def with_searches(plan: Plan, by_meaning: Sequence[str] = ()) -> Plan:
    """The plan with a look-up by each engine for each of its texts; some are for search by meaning alone."""
    guessed, asked = plan.question.guessed, len(plan.searched) - len(plan.extra)
    searches = tuple(
        Search(
            text,
            via,
            number,
            GUESSED_QUERY_WEIGHT if guessed and number == 0 else EXTRA_QUERY_WEIGHT if number >= asked else 1.0,
        )
        for number, text in enumerate(plan.searched)
        for via in STRATEGIES[plan.strategy].engines
        if via == "dense" or text not in by_meaning
    )
    return replace(plan, searches=searches)


def result_levels(question: Question, strategy: Strategy, reading: QuestionAnalysis) -> tuple[int, ...]:
    """What results shall be: as the request says; what serves the question where documents are looked at as such."""
    if question.levels is not None:
        return tuple(sorted(set(question.levels)))
    return reading.levels if strategy == "hierarchical" else (2,)


def needs_retrieval(question: Question, rag: Rag) -> bool:
    """Whether the documents are looked into: as the request says, else as the mode has it."""
    if question.mode in ("general", "agent"):
        return question.mode == "agent"
    if question.retrieve is not None or rag.mode == "manual":
        return bool(question.retrieve)
    return rag.mode == "always" or not is_small_talk(question.text)


def _reasons(plan: Plan, rag: Rag, why: str) -> tuple[str, ...]:
    """Why the plan is as it is, in words that hold none of the question's."""
    reading = plan.analysis
    return (
        f"intent {reading.intent} ({reading.intent_confidence:.2f})",
        f"type {reading.type} ({reading.type_confidence:.2f})" + (", several steps" if reading.is_multi_hop else ""),
        f"strategy {plan.strategy}: {why}",
        f"{plan.top_k} passages" + (", spread over documents" if diversifies(plan, rag) else ""),
    )
