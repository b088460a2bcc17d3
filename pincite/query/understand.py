"""What to do about a question → Plan."""

from pincite.core.answers import Plan, Question, Search, Strategy, Via
from pincite.core.run import Planned, Run

ENGINES: dict[Strategy, tuple[Via, ...]] = {
    "hybrid": ("dense", "lexical"),
    "dense_only": ("dense",),
    "lexical_only": ("lexical",),
}


async def understand(run: Run, question: Question) -> Plan:
    """Choose the strategy, the searches and how many passages are wanted."""
    rag = run.settings.rag
    strategy = question.strategy or ("hybrid" if rag.use_hybrid_search else "dense_only")
    searches = tuple(
        Search(text, via, number)
        for number, text in enumerate((question.text, *question.also))
        for via in ENGINES[strategy]
    )
    top_k = question.top_k or rag.top_k
    plan = Plan(question, question.text, strategy, searches, top_k, candidates=max(rag.candidates, top_k))
    run.observe(strategy=strategy, top_k=top_k, candidates=plan.candidates)
    run.emit(Planned(plan))
    return plan
