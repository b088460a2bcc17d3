"""What to do about a question → Plan."""

from dataclasses import replace

from pincite.core.answers import Plan, Question, Search, Strategy, Via
from pincite.core.run import Planned, Run
from pincite.query.intent import intent_of

ENGINES: dict[Strategy, tuple[Via, ...]] = {
    "hybrid": ("dense", "lexical"),
    "dense_only": ("dense",),
    "lexical_only": ("lexical",),
}

GUESS = 0.5
"""What a guessed meaning counts beside the words that were asked; see docs/evaluation.md."""


async def understand(run: Run, question: Question) -> Plan:
    """Choose the strategy, the searches and how many passages are wanted."""
    rag = run.settings.rag
    strategy = question.strategy or ("hybrid" if rag.use_hybrid_search else "dense_only")
    text = question.standalone or question.text
    top_k = question.top_k or rag.top_k
    plan = Plan(question, text, strategy, (), top_k, max(rag.candidates, top_k), intent_of(text))
    searches = tuple(
        Search(query, via, number, GUESS if question.guessed and number == 0 else 1.0)
        for number, query in enumerate(plan.searched)
        for via in ENGINES[strategy]
    )
    plan = replace(plan, searches=searches)
    run.observe(strategy=strategy, top_k=top_k, candidates=plan.candidates)
    run.emit(Planned(plan))
    return plan
