"""The draft is checked against its sources → Answer."""

import asyncio
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pincite.core.query.answer import Answer, AnswerMetadata, Citation, Confidence, Conflict, Groundedness, Sufficiency
from pincite.core.query.fixed_answers import NO_ANSWER, NOTHING_ABOUT, NOTHING_ASKED, NOTHING_FOUND, quoted
from pincite.core.query.hits import Evidence, Hit, RetrievedChunk
from pincite.core.query.plan import Plan
from pincite.core.query.prompt import Draft, Prompt, Quote, Usage
from pincite.core.run import Run
from pincite.query.citations.claims import Claim
from pincite.query.citations.marks import CitationMark, normalise_marks
from pincite.query.citations.sources import related_documents, sources_of
from pincite.query.generate.generate import BROKEN_OFF
from pincite.query.ground.check_claims import check
from pincite.query.ground.confidence import Grounds, answered, calibrated, counted
from pincite.query.ground.conflicts import conflicts_among
from pincite.query.ground.suggestions import suggestions
from pincite.query.ground.support import SUPPORTED, SupportVerdict
from pincite.query.understand.small_talk import talk_language
from pincite.text.terms import question_language

COVERED = 0.6
"""Evidence that holds so many of the question's words covers it."""
MOST_MISSING = 3
"""Aspects of a question that a refusal names."""
MOST_REASONS = 5
"""Citations that do not hold which are told one by one."""


@dataclass(frozen=True, slots=True)
class Grounded:
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


async def grounding(run: Run, plan: Plan, evidence: Evidence, prompt: Prompt, draft: Draft) -> Answer:
    """Resolve every citation to an exact passage, judge each claim, and say how far to trust it all."""
    grounded = await resolve(run, prompt.sources, draft)
    confidence = (
        _unanswered(evidence)
        if draft.finish_reason == NO_ANSWER
        else _confidence(run, plan, evidence, prompt.sources, grounded)
    )
    run.observe(
        citations=len(grounded.citations), matched=sum(c.matched for c in grounded.citations),
        unsupported=sum(c.support < SUPPORTED for c in grounded.citations), grounded=grounded.groundedness.score,
    )  # fmt: skip
    return _answer(
        run, plan, evidence, grounded=grounded, confidence=confidence, hits=prompt.sources, draft=draft,
        warnings=(*_warnings(draft, grounded), *_disagreeing(grounded.conflicts)),
        suggested=await suggestions(plan, evidence, grounded.cited, draft.suggested_questions, run=run),
    )  # fmt: skip


async def resolve(run: Run, sources: Sequence[Hit], draft: Draft) -> Grounded:
    """The draft with the passage behind each of its marks, and behind what it says without one."""
    if draft.quotes:  # the answerer says itself what it cites; brackets in what it quotes are the document's own
        marks = [_code_mark(quote, draft.text) for quote in draft.quotes]
        checked = await check(draft.text, marks, sources, run=run, copied=True)
        text, citations = draft.text, [_quoted(*one, sources) for one in zip(draft.quotes, marks, strict=True)]
    else:
        text, marks = normalise_marks(draft.text, sources)
        checked = await check(text, marks, sources, run=run)
        citations = [_citation(number, mark, checked.marked, sources) for number, mark in enumerate(marks)]
        citations += [_aligned(claim, source, verdict, sources) for claim, source, verdict in checked.found]
    ordered = tuple(sorted(citations, key=lambda one: (one.start, one.end)))
    conflicts = await asyncio.to_thread(conflicts_among, ordered, sources)  # it may read a dictionary
    return Grounded(text, ordered, checked.groundedness, conflicts, draft.agreement)


async def no_answer(run: Run, plan: Plan, evidence: Evidence) -> Answer:
    """The answer when no passage is relevant: no model is asked."""
    language = question_language(plan.text)
    about = (
        NOTHING_ABOUT[language].format(what=quoted(evidence.missing[:MOST_MISSING], language))
        if evidence.missing
        else ""
    )
    text = f"{NOTHING_FOUND[language]} {about}".rstrip()
    confidence = Confidence(0.0, "low", "no relevant passage was found")
    return _answer(
        run, plan, evidence, grounded=_ungrounded(text), confidence=confidence, hits=(),
        draft=Draft(text, None, None), warnings=(),
    )  # fmt: skip


async def no_retrieval(run: Run, plan: Plan, draft: Draft | None) -> Answer:
    """An answer for which no document was looked into: the model's own words, or, without any, a sentence of ours."""
    text = draft.text if draft else NOTHING_ASKED[talk_language(plan.text)]
    confidence = Confidence(0.0, "low", "no document was looked into")
    cut = incomplete(draft.finish_reason) if draft else None
    held_back = draft.warnings if draft else ()
    warnings = (
        "this answer is not from your documents", *held_back, *([f"the answer is incomplete: {cut}"] if cut else []),
    )  # fmt: skip
    return _answer(
        run, plan, Evidence((), 0.0), grounded=_ungrounded(text), confidence=confidence, hits=(),
        draft=draft or Draft(text, None, None), warnings=warnings,
    )  # fmt: skip


def _ungrounded(text: str) -> Grounded:
    return Grounded(text, (), Groundedness(0.0))


def _answer(
    run: Run,
    plan: Plan,
    evidence: Evidence,
    *,
    grounded: Grounded,
    confidence: Confidence,
    hits: Sequence[Hit],
    draft: Draft,
    warnings: tuple[str, ...],
    suggested: tuple[str, ...] = (),
) -> Answer:
    metadata = AnswerMetadata(
        chunks_retrieved=len(evidence.hits), model=draft.model, finish_reason=draft.finish_reason, trace_id=run.id,
        usage=_cost(run, draft), durations_ms=run.durations(), rewritten_query=plan.question.standalone, plan=plan.reasons,
        corrected_query=plan.question.corrected,
    )  # fmt: skip
    return Answer(
        id=run.answer_id, text=grounded.text, strategy=plan.strategy, sources=sources_of(hits, grounded.cited),
        citations=grounded.citations, groundedness=grounded.groundedness, confidence=confidence,
        related_documents=related_documents(evidence.hits, run.settings.category_labels),
        context_sufficiency=Sufficiency(
            bool(hits) and evidence.coverage >= COVERED, round(evidence.coverage, 4), evidence.missing,
            bool(grounded.conflicts), grounded.conflicts,
        ),
        has_relevant_sources=bool(hits), metadata=metadata, warnings=(*run.warnings, *warnings),
        degraded=tuple(run.degraded),
        intent=plan.intent, question_type=plan.analysis.type, suggested_questions=suggested,
        intelligence_level=run.settings.answers.level,
    )  # fmt: skip


def _code_mark(quote: Quote, text: str) -> CitationMark:
    return CitationMark(text[quote.mark_start : quote.mark_end], quote.mark_start, quote.mark_end, quote.source, "code")


def _cost(run: Run, draft: Draft) -> Usage | None:
    """What all calls of the model cost: the answer's, and those beside it."""
    return draft.usage + run.spent if draft.usage and run.spent else draft.usage or run.spent


def _quoted(quote: Quote, mark: CitationMark, sources: Sequence[Hit]) -> Citation:
    """The citation of a passage that was chosen by code."""
    return _resolved(mark, sources[quote.source - 1].chunk, SupportVerdict(quote.start, quote.end, 1.0))


def _citation(
    number: int, mark: CitationMark, verdicts: Mapping[int, SupportVerdict], sources: Sequence[Hit]
) -> Citation:
    """The citation behind a mark that a model wrote; one that names no source stays unmatched."""
    if mark.source is None:
        return Citation(
            mark.text, mark.start, mark.end, False, None, None, "", None, None, None, None, None, 0.0,
            reason="names no source of this answer",
        )  # fmt: skip
    return _resolved(mark, sources[mark.source - 1].chunk, verdicts[number])


def _aligned(claim: Claim, source: int, verdict: SupportVerdict, sources: Sequence[Hit]) -> Citation:
    """The citation of what the model left uncited: it stands at the claim's end and has no letters there."""
    return _resolved(CitationMark("", claim.end, claim.end, source, "code"), sources[source - 1].chunk, verdict)


def _resolved(mark: CitationMark, chunk: RetrievedChunk, found: SupportVerdict) -> Citation:
    start, end = chunk.start_char + found.start, chunk.start_char + found.end
    return Citation(
        text=mark.text, start=mark.start, end=mark.end, matched=True, matched_by=mark.matched_by, source=mark.source,
        quote=chunk.text[found.start : found.end], quote_start_char=start, quote_end_char=end,
        quote_start_line=chunk.start_line + chunk.text.count("\n", 0, found.start),
        quote_end_line=chunk.start_line + chunk.text.count("\n", 0, max(found.start, found.end - 1)),
        page=bisect_right(chunk.page_starts, start) or None, support=round(found.support, 4), reason=found.reason,
    )  # fmt: skip


def _unanswered(evidence: Evidence) -> Confidence:
    lacking = f"; they say nothing about {quoted(evidence.missing[:MOST_MISSING], 'en')}" if evidence.missing else ""
    return Confidence(0.0, "low", f"the sources found do not answer the question{lacking}")


def _confidence(run: Run, plan: Plan, evidence: Evidence, sources: Sequence[Hit], grounded: Grounded) -> Confidence:
    cited = [sources[number - 1] for number in sorted(grounded.cited)]
    above = [part for hit in cited for part in (hit.chunk.title, *hit.chunk.heading_path)]
    told = [*(citation.quote for citation in grounded.citations), *above]
    grounds = Grounds(
        tuple(hit.relevance for hit in cited), grounded.groundedness, answered(plan.text, told),
        evidence.missing, uncited=not grounded.marked, conflicts=len(grounded.conflicts), agreement=grounded.agreement,
        rival=max((hit.relevance for n, hit in enumerate(sources, 1) if n not in grounded.cited), default=0.0),
    )  # fmt: skip
    if run.settings.confidence.rule == "counted":
        return counted(grounds, sources, len(grounded.citations))
    return calibrated(grounds)


def _warnings(draft: Draft, grounded: Grounded) -> tuple[str, ...]:
    """What the reader should know before relying on the answer."""
    cut = incomplete(draft.finish_reason)
    found = [*draft.warnings, *([f"the answer is incomplete: {cut}"] if cut else [])]
    if draft.finish_reason == NO_ANSWER:
        return tuple(found)
    if not grounded.marked:
        found.append(
            "the answer cites no source" + ("; code matched what it says with them" if grounded.citations else "")
        )
    elif grounded.groundedness.score < SUPPORTED:
        found.append("parts of the answer are not supported by the sources cited")
    found += _unsupported(grounded)
    if grounded.text != draft.text:
        found.append("citations were put into one form, so the text differs from what was streamed")
    return tuple(found)


def _disagreeing(conflicts: Sequence[Conflict]) -> list[str]:
    """Which sources say different things; what they say is in the conflicts."""
    pairs = dict.fromkeys(
        " and ".join(f"[Source {one.source}]" for one in conflict.statements) for conflict in conflicts
    )
    return [f"{pair} disagree; see the conflicts" for pair in pairs]


def _unsupported(grounded: Grounded) -> list[str]:
    """Each citation that does not hold, with the reason, and how many sentences nothing stands behind."""
    failed = [one for one in grounded.citations if one.support < SUPPORTED and one.reason]
    told = [f"{one.text} at character {one.start} does not support what it stands for: {one.reason}" for one in failed]
    more = len(told) - MOST_REASONS
    alone = sum(one.source is None for one in grounded.groundedness.sentences)
    total = len(grounded.groundedness.sentences)
    return [
        *told[:MOST_REASONS],
        *([f"{more} more citations do not support what they stand for"] if more > 0 else []),
        *([f"{alone} of {total} sentences stand on no source"] if alone and total > alone else []),
    ]


def incomplete(finish_reason: str | None) -> str | None:
    """Why an answer that ended so is not whole; None for one that is."""
    if finish_reason in _WHOLE:
        return None
    return _CUT.get(finish_reason or "", f"the model stopped early ({_NOT_A_NAME.sub(' ', finish_reason or '')[:40]})")


_WHOLE = frozenset({None, "stop", "end", "end_turn", "stop_sequence", "eos_token", NO_ANSWER})
"""How whole answers end; where no reason is told, nothing says that it was cut."""
_NOT_A_NAME = re.compile(r"[^\w.-]+")
_CUT = {
    BROKEN_OFF: "the model stopped in the middle",
    "length": "the model reached its longest answer (llm.max_tokens)",
    "content_filter": "the model's service withheld the rest (content_filter)",
    "refusal": "the model refused to go on (refusal)",
}
