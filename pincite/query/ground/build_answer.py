"""Build the answer object: text, sources, citations, confidence, metadata."""

from collections.abc import Sequence
from dataclasses import dataclass

from pincite.core.query.answer import (
    Answer,
    AnswerGraph,
    AnswerMetadata,
    Citation,
    Confidence,
    Conflict,
    Groundedness,
    Sufficiency,
)
from pincite.core.query.hits import Evidence, Hit
from pincite.core.query.plan import Plan
from pincite.core.query.prompt import Draft, Usage
from pincite.core.run import Run
from pincite.query.citations.sources import related_documents, sources_of
from pincite.query.graph.context import facts_of_sources

SUFFICIENT_COVERAGE = 0.6
"""Share of the question's terms that sufficient evidence covers; no aspect of the question may be missing."""


@dataclass(frozen=True, slots=True)
class GroundedDraft:
    """The text of a draft with its resolved citations, the support of every sentence, and the conflicts of its sources.

    `agreement` is the share of its statements that other drafts make as well; None where there was one draft.
    """

    text: str
    citations: tuple[Citation, ...]
    groundedness: Groundedness
    conflicts: tuple[Conflict, ...] = ()
    agreement: float | None = None

    @property
    def cited(self) -> frozenset[int]:
        """The numbers of the cited sources."""
        return frozenset(citation.source for citation in self.citations if citation.source)

    @property
    def marked(self) -> tuple[Citation, ...]:
        """The citations with a mark in the text; the others were found by code."""
        return tuple(citation for citation in self.citations if citation.end > citation.start)


def build_answer(
    run: Run,
    plan: Plan,
    evidence: Evidence,
    grounded: GroundedDraft,
    confidence: Confidence,
    hits: Sequence[Hit],
    draft: Draft,
    warnings: tuple[str, ...] = (),
) -> Answer:
    """The answer of a run; `hits` are the sources in the prompt."""
    question, settings = plan.question, run.settings
    metadata = AnswerMetadata(
        chunks_retrieved=len(evidence.hits),
        model=draft.model,
        finish_reason=draft.finish_reason,
        trace_id=run.id,
        usage=_total_usage(run, draft),
        durations_ms=run.durations(),
        rewritten_query=question.standalone,
        corrected_query=question.corrected,
        plan=plan.reasons,
        replaced_model=draft.replaces,
    )
    sufficiency = Sufficiency(
        bool(hits) and evidence.coverage >= SUFFICIENT_COVERAGE and not evidence.missing,
        round(evidence.coverage, 4),
        evidence.missing,
        bool(grounded.conflicts),
        grounded.conflicts,
    )
    return Answer(
        id=run.answer_id,
        text=grounded.text,
        strategy=plan.strategy,
        sources=sources_of(hits, grounded.cited),
        citations=grounded.citations,
        groundedness=grounded.groundedness,
        confidence=confidence,
        related_documents=related_documents(evidence.hits, settings.category_labels),
        context_sufficiency=sufficiency,
        has_relevant_sources=bool(hits),
        metadata=metadata,
        warnings=(*run.warnings, *warnings),
        degraded=tuple(run.degraded),
        intent=plan.intent,
        question_type=plan.analysis.type,
        intelligence_level=settings.answers.level,
        graph=AnswerGraph(_is_enriched(evidence), tuple(facts_of_sources(evidence.facts, hits))),
    )


def _is_enriched(evidence: Evidence) -> bool:
    """Whether the knowledge graph found one of the passages or a fact."""
    return bool(evidence.facts) or any(one.via in ("graph", "dual") for hit in evidence.hits for one in hit.placings)


def _total_usage(run: Run, draft: Draft) -> Usage | None:
    """The token usage of all model calls of the run."""
    return draft.usage + run.spent if draft.usage and run.spent else draft.usage or run.spent
