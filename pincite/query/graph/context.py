"""The facts of the graph for an answer: those that the chosen passages state, best first."""

from collections.abc import Sequence
from dataclasses import replace

from pincite.core.graph import GraphFact
from pincite.core.query.answer import AnswerFact
from pincite.core.query.hits import Evidence, Hit
from pincite.core.query.plan import Plan
from pincite.core.run import Run

MAX_FACTS = 12
"""Facts in the context at most."""
BUDGET_SHARE = 0.1
"""Share of the room for sources that facts may take."""


async def graph_context(run: Run, plan: Plan, evidence: Evidence) -> Evidence:
    """The evidence with the facts that its passages state, those about the question's entities first."""
    assert run.kit.graph is not None
    stated = await run.kit.graph.facts_in([hit.chunk.key for hit in evidence.hits], scope=run.scope)
    places = {hit.chunk.key: place for place, hit in enumerate(evidence.hits)}
    asked = set(run.graph_seeds or ())
    ranked = sorted(stated, key=lambda fact: (_distance(fact, asked), places[fact.chunk], fact.start))
    chosen = list({(one.subject_name, one.relation, one.object): one for one in reversed(ranked)}.values())[::-1]
    run.observe(facts=len(chosen[:MAX_FACTS]), stated=len(stated))
    return replace(evidence, facts=tuple(chosen[:MAX_FACTS]))


def _distance(fact: GraphFact, asked: set[int]) -> int:
    """0 for a fact about an entity that the question names, 1 for others."""
    return 0 if fact.subject_name in asked or fact.object_name in asked else 1


def facts_of_sources(facts: Sequence[GraphFact], sources: Sequence[Hit]) -> list[AnswerFact]:
    """The facts with the number of the source that states each; those of passages that are no source are left out."""
    numbers = {hit.chunk.key: (number, hit.chunk.document_id) for number, hit in enumerate(sources, start=1)}
    return [
        AnswerFact(one.subject, one.relation, one.object, *numbers[one.chunk]) for one in facts if one.chunk in numbers
    ]


def fact_line(fact: AnswerFact) -> str:
    """A fact in one line, with its source."""
    return " ".join(f"{fact.subject} — {fact.relation} — {fact.object} [Source {fact.source}]".split())
