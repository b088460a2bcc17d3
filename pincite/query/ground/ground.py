"""Grounding: resolve the citations of a draft, measure its support and confidence, and build the answer."""

import asyncio
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence

from pincite.core.query.answer import Answer, Citation, Confidence, Conflict, Groundedness
from pincite.core.query.hits import Evidence, Hit, RetrievedChunk
from pincite.core.query.plan import Plan
from pincite.core.query.prompt import NO_ANSWER, Draft, Prompt, Quote
from pincite.core.run import Run
from pincite.query.citations.claims import Claim
from pincite.query.citations.marks import CitationMark
from pincite.query.generate.generate import INCOMPLETE
from pincite.query.ground.build_answer import GroundedDraft, build_answer
from pincite.query.ground.check_claims import ClaimCheck
from pincite.query.ground.confidence import (
    ConfidenceInputs,
    answered_share,
    calibrated_confidence,
    counted_confidence,
    product_confidence,
)
from pincite.query.ground.conflicts import find_conflicts
from pincite.query.ground.support import MIN_SUPPORT, SupportVerdict
from pincite.query.rank.relevance import scaled_similarity
from pincite.query.understand.small_talk import talk_kind, talk_language
from pincite.text.fixed_answers import nothing_found, nothing_readable, quote_words, talk_reply
from pincite.text.terms import question_language

ACROSS_SHARE = 0.5
"""Share of a question that counts as answered by a source in another language."""
MAX_MISSING_ASPECTS = 3
"""Aspects of a question that a refusal names."""
MAX_REASONS = 5
"""Unsupported citations that the warnings list one by one."""


async def grounding(
    run: Run, plan: Plan, evidence: Evidence, prompt: Prompt, draft: Draft, check: ClaimCheck
) -> Answer:
    """Build the answer: citations resolved to exact passages, the support of every sentence, the confidence."""
    grounded = await _resolve(prompt.sources, draft, check, plan.text)
    confidence = (
        _no_answer_confidence(evidence)
        if draft.finish_reason == NO_ANSWER
        else _confidence(run, plan, evidence, prompt.sources, grounded, draft.quotes)
    )
    run.observe(
        citations=len(grounded.citations),
        matched=sum(citation.matched for citation in grounded.citations),
        unsupported=sum(citation.support < MIN_SUPPORT for citation in grounded.citations),
        grounded=grounded.groundedness.score,
    )
    warnings = (*_warnings(draft, grounded), *_conflict_warnings(grounded.conflicts))
    return build_answer(run, plan, evidence, grounded, confidence, prompt.sources, draft, warnings)


async def _resolve(sources: Sequence[Hit], draft: Draft, check: ClaimCheck, question: str) -> GroundedDraft:
    """The draft with the passage of each mark, and of each supported claim without a mark."""
    verdicts = check.by_mark
    if check.copied:
        citations = [
            _quote_citation(quote, mark, verdicts.get(number), sources)
            for number, (quote, mark) in enumerate(zip(draft.quotes, check.marks, strict=True))
        ]
    else:
        citations = [_mark_citation(number, mark, verdicts, sources) for number, mark in enumerate(check.marks)]
        citations += [_claim_citation(claim, source, verdict, sources) for claim, source, verdict in check.aligned]
    ordered = tuple(sorted(citations, key=lambda one: (one.start, one.end)))
    conflicts = await asyncio.to_thread(find_conflicts, ordered, sources, question)  # may read a dictionary
    return GroundedDraft(check.text, ordered, check.groundedness, conflicts, draft.agreement)


async def no_answer(run: Run, plan: Plan, evidence: Evidence) -> Answer:
    """The answer where no passage is relevant; the model is not called. Whoever may read no document is told so."""
    language, reason = question_language(plan.text), "no relevant passage was found"
    text = nothing_found(evidence.absent[:MAX_MISSING_ASPECTS], language)
    if not await run.kit.index.has_documents(run.scope):
        text, reason = nothing_readable(language), "there is no document that this user may read"
    confidence = Confidence(0.0, "low", reason)
    return build_answer(run, plan, evidence, _ungrounded_draft(text), confidence, (), Draft(text, None, None))


async def no_retrieval(run: Run, plan: Plan, draft: Draft | None) -> Answer:
    """The answer without retrieval: the model's text, or a fixed sentence where no model is configured."""
    text = draft.text if draft else talk_reply(talk_kind(plan.text), talk_language(plan.text))
    confidence = Confidence(0.0, "low", "no document was searched")
    incomplete = incomplete_reason(draft.finish_reason) if draft else None
    removed = draft.warnings if draft else ()
    warnings = (
        "this answer is not from your documents",
        *removed,
        *([f"the answer is incomplete: {incomplete}"] if incomplete else []),
    )
    final_draft = draft or Draft(text, None, None)
    return build_answer(run, plan, Evidence((), 0.0), _ungrounded_draft(text), confidence, (), final_draft, warnings)


def _ungrounded_draft(text: str) -> GroundedDraft:
    return GroundedDraft(text, (), Groundedness(0.0))


def _quote_citation(
    quote: Quote, mark: CitationMark, verdict: SupportVerdict | None, sources: Sequence[Hit]
) -> Citation:
    """The citation of a sentence that code selected, of a value that it computed, or of the name of a document."""
    is_checked = quote.computed or quote.document_name
    support, reason = (verdict.support, verdict.reason) if is_checked and verdict else (1.0, None)
    found = SupportVerdict(quote.start, quote.end, support, reason=reason)
    return _make_citation(mark, sources[quote.source - 1].chunk, found)


def _mark_citation(
    number: int, mark: CitationMark, verdicts: Mapping[int, SupportVerdict], sources: Sequence[Hit]
) -> Citation:
    """The citation of a mark that the model wrote; unmatched where the mark names no source."""
    if mark.source is None:
        return Citation(
            mark.text,
            mark.start,
            mark.end,
            False,
            None,
            None,
            "",
            None,
            None,
            None,
            None,
            None,
            0.0,
            reason="names no source of this answer",
            title=mark.title,
            section=mark.section,
        )
    return _make_citation(mark, sources[mark.source - 1].chunk, verdicts[number])


def _claim_citation(claim: Claim, source: int, verdict: SupportVerdict, sources: Sequence[Hit]) -> Citation:
    """The citation of a claim without a mark: an empty mark at the end of the claim."""
    return _make_citation(CitationMark("", claim.end, claim.end, source, "code"), sources[source - 1].chunk, verdict)


def _make_citation(mark: CitationMark, chunk: RetrievedChunk, found: SupportVerdict) -> Citation:
    start, end = chunk.start_char + found.start, chunk.start_char + found.end
    return Citation(
        text=mark.text,
        start=mark.start,
        end=mark.end,
        matched=True,
        matched_by=mark.matched_by,
        source=mark.source,
        quote=chunk.text[found.start : found.end],
        quote_start_char=start,
        quote_end_char=end,
        quote_start_line=chunk.start_line + chunk.text.count("\n", 0, found.start),
        quote_end_line=chunk.start_line + chunk.text.count("\n", 0, max(found.start, found.end - 1)),
        page=bisect_right(chunk.page_starts, start) or None,
        support=round(found.support, 4),
        reason=found.reason if mark.has_section else _no_section(mark, found.reason),
        title=chunk.title,
        section=(" > ".join(chunk.section_path) or None) if mark.has_section else None,
        document_id=chunk.document_id,
        version=chunk.version,
    )


def _no_section(mark: CitationMark, reason: str | None) -> str:
    missing = f"no source has the section “{mark.section}”"
    return f"{missing}; {reason}" if reason else missing


def _no_answer_confidence(evidence: Evidence) -> Confidence:
    lacking = (
        f"; they say nothing about {quote_words(evidence.absent[:MAX_MISSING_ASPECTS], 'en')}"
        if evidence.absent
        else ""
    )
    return Confidence(0.0, "low", f"the sources found do not answer the question{lacking}")


def _confidence(
    run: Run,
    plan: Plan,
    evidence: Evidence,
    sources: Sequence[Hit],
    grounded: GroundedDraft,
    quotes: Sequence[Quote],
) -> Confidence:
    cited = [sources[number - 1] for number in sorted(grounded.cited)]
    headings = [part for hit in cited for part in (hit.chunk.title, *hit.chunk.heading_path)]
    cited_texts = [*(citation.quote for citation in grounded.citations), *headings]
    own = question_language(plan.text)
    across = bool(cited) and all(hit.chunk.language != own for hit in cited)
    inputs = ConfidenceInputs(
        tuple(hit.relevance for hit in cited),
        grounded.groundedness,
        _answered(grounded, across, plan.text, cited_texts),
        evidence.missing,
        uncited=not grounded.marked,
        conflicts=len(grounded.conflicts),
        agreement=grounded.agreement,
        rival=max((hit.relevance for n, hit in enumerate(sources, 1) if n not in grounded.cited), default=0.0),
        computed=_is_computed(grounded),
        across=across,
        read=next((quote.read for quote in quotes if quote.read is not None), None),
    )
    if run.settings.confidence.rule == "counted":
        matched = {citation.title for citation in grounded.citations if citation.matched}
        return counted_confidence(inputs, [scaled_similarity(run, hit) for hit in evidence.hits], len(matched))
    return product_confidence(inputs) if run.settings.confidence.rule == "product" else calibrated_confidence(inputs)


def _answered(grounded: GroundedDraft, across: bool, question: str, cited_texts: Sequence[str]) -> float:
    """The share of the question that the cited texts cover; an estimate where its words cannot be compared."""
    if _is_computed(grounded):
        return 1.0
    return ACROSS_SHARE if across else answered_share(question, cited_texts)


def _is_computed(grounded: GroundedDraft) -> bool:
    """Whether the answer has a computed value: then the table accounts for every word of the question."""
    return any(one.matched_by == "computed" and one.support >= MIN_SUPPORT for one in grounded.citations)


def _warnings(draft: Draft, grounded: GroundedDraft) -> tuple[str, ...]:
    """The warnings about the answer."""
    incomplete = incomplete_reason(draft.finish_reason)
    found = [*draft.warnings, *([f"the answer is incomplete: {incomplete}"] if incomplete else [])]
    if draft.finish_reason == NO_ANSWER:
        return tuple(found)
    if not grounded.marked:
        found.append(
            "the answer cites no source" + ("; code matched its claims to sources" if grounded.citations else "")
        )
    if grounded.groundedness.sentences and grounded.groundedness.score < MIN_SUPPORT:
        cited = " cited" if grounded.marked else ""
        found.append(f"parts of the answer are not supported by the sources{cited}")
    found += _support_warnings(grounded)
    if grounded.text != draft.text:
        found.append("citation marks were normalised, so the text differs from the streamed text")
    return tuple(found)


def _conflict_warnings(conflicts: Sequence[Conflict]) -> list[str]:
    """A warning for each pair of sources that disagree; the statements are in the conflicts."""
    pairs = dict.fromkeys(
        " and ".join(f"[Source {one.source}]" for one in conflict.statements) for conflict in conflicts
    )
    return [f"{pair} disagree; see the conflicts" for pair in pairs]


def _support_warnings(grounded: GroundedDraft) -> list[str]:
    """A warning for each unsupported citation, with the reason, and one for the sentences without a source."""
    failed = [one for one in grounded.citations if one.reason]
    cited_texts = [f"{one.text} at character {one.start} {_failure(one)}: {one.reason}" for one in failed]
    more = len(cited_texts) - MAX_REASONS
    unsourced = sum(one.source is None for one in grounded.groundedness.sentences)
    total = len(grounded.groundedness.sentences)
    return [
        *cited_texts[:MAX_REASONS],
        *([f"{more} more citations do not support their claims"] if more > 0 else []),
        *([f"{unsourced} of {total} sentences have no source"] if unsourced and total > unsourced else []),
    ]


def _failure(citation: Citation) -> str:
    return "does not support its claim" if citation.support < MIN_SUPPORT else "is matched by its title alone"


def incomplete_reason(finish_reason: str | None) -> str | None:
    """Why an answer with this finish reason is incomplete; None where it is complete."""
    if finish_reason in _COMPLETE:
        return None
    return _INCOMPLETE_REASONS.get(
        finish_reason or "", f"the model stopped early ({_NOT_A_NAME.sub(' ', finish_reason or '')[:40]})"
    )


_COMPLETE = frozenset({None, "stop", "end", "end_turn", "stop_sequence", "eos_token", NO_ANSWER})
"""Finish reasons of complete answers; an answer without a finish reason counts as complete."""
_NOT_A_NAME = re.compile(r"[^\w.-]+")
_INCOMPLETE_REASONS = {
    INCOMPLETE: "the model stopped in the middle",
    "length": "the model reached its longest answer (llm.max_tokens)",
    "content_filter": "the model's service withheld the rest (content_filter)",
    "refusal": "the model refused to go on (refusal)",
}
