"""The answer as a value: text, sources, citations, confidence, and what is known about how it was made."""

from collections.abc import Sequence
from dataclasses import dataclass

from pincite.core.query.answer import Answer, AnswerMetadata, Citation, Confidence, Conflict, Groundedness, Sufficiency
from pincite.core.query.hits import Evidence, Hit
from pincite.core.query.plan import Plan
from pincite.core.query.prompt import Draft, Usage
from pincite.core.run import Run
from pincite.query.citations.sources import related_documents, sources_of

SUFFICIENT_COVERAGE = 0.6
"""Share of the question's terms that the evidence must hold to be called sufficient."""


@dataclass(frozen=True, slots=True)
class GroundedDraft:
    """A draft's text with its citations resolved, every sentence judged, and what its sources disagree about.

    `agreement` is the share of its statements that other drafts make as well, where there were any.
    """

    text: str
    citations: tuple[Citation, ...]
    groundedness: Groundedness
    conflicts: tuple[Conflict, ...] = ()
    agreement: float | None = None

    @property
    def cited(self) -> frozenset[int]:
        """The numbers of the sources it stands on."""
        return frozenset(citation.source for citation in self.citations if citation.source)

    @property
    def marked(self) -> tuple[Citation, ...]:
        """The citations that stand in the text; the others were found by code."""
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
    """The answer of a run; `hits` are the sources that the prompt showed."""
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
    )
    sufficiency = Sufficiency(
        bool(hits) and evidence.coverage >= SUFFICIENT_COVERAGE,
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
    )


def _total_usage(run: Run, draft: Draft) -> Usage | None:
    """What all calls of the model cost: the answer's, and those beside it."""
    return draft.usage + run.spent if draft.usage and run.spent else draft.usage or run.spent
