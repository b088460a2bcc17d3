"""The draft is checked against its sources → Answer."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from pincite.core.answers import (
    Answer,
    AnswerMetadata,
    Citation,
    Confidence,
    ConfidenceLevel,
    Draft,
    Evidence,
    Found,
    Groundedness,
    GroundedSentence,
    Hit,
    Plan,
    Prompt,
    Quote,
    Sufficiency,
)
from pincite.core.phrases import NO_ANSWER, NOTHING_ASKED, NOTHING_FOUND
from pincite.core.run import Run
from pincite.core.text import Span, sentences
from pincite.query.cite import Mark, normalise_marks
from pincite.query.generate import BROKEN_OFF
from pincite.query.smalltalk import talk_language
from pincite.query.sources import related_documents, sources_of
from pincite.words import question_language, terms

SUPPORTED = 0.5
"""A sentence stands on its source when so much of what it says is in the quote."""
HIGH, MEDIUM = 0.6, 0.35
"""Confidence levels by score."""
COVERED = 0.6
"""Evidence that holds so many of the question's words covers it."""


@dataclass(frozen=True, slots=True)
class Aligned:
    """The passage of a source that comes nearest to a sentence, and how far it supports it."""

    start: int
    end: int
    support: float


async def ground(run: Run, plan: Plan, evidence: Evidence, prompt: Prompt, draft: Draft) -> Answer:
    """Resolve every citation to an exact passage, judge each sentence, and say how far to trust it all."""
    if draft.quotes:  # the answerer says itself what it cites; brackets in what it quotes are the document's own
        text, citations = draft.text, tuple(_quoted(quote, draft.text, prompt.sources) for quote in draft.quotes)
    else:
        text, marks = normalise_marks(draft.text, prompt.sources)
        citations = tuple(_citation(mark, text, marks, prompt.sources) for mark in marks)
    grounded = _groundedness(text, citations)
    cited = frozenset(citation.source for citation in citations if citation.source)
    confidence = _confidence(prompt.sources, cited, grounded, abstained=draft.finish_reason == NO_ANSWER)
    run.observe(citations=len(citations), matched=sum(c.matched for c in citations), grounded=grounded.score)
    return _answer(
        run, plan, evidence, text=text, citations=citations, groundedness=grounded, confidence=confidence,
        hits=prompt.sources, cited=cited, draft=draft, warnings=_warnings(draft, text, grounded, citations),
    )  # fmt: skip


async def nothing_found(run: Run, plan: Plan, evidence: Evidence) -> Answer:
    """The answer when no passage is relevant: no model is asked."""
    text = NOTHING_FOUND[question_language(plan.text)]
    confidence = Confidence(0.0, "low", "no relevant passage was found")
    return _answer(
        run, plan, evidence, text=text, citations=(), groundedness=Groundedness(0.0), confidence=confidence,
        hits=(), cited=frozenset(), draft=Draft(text, None, None), warnings=(),
    )  # fmt: skip


async def unsourced(run: Run, plan: Plan, draft: Draft | None) -> Answer:
    """An answer for which no document was looked into: the model's own words, or, without any, a sentence of ours."""
    text = draft.text if draft else NOTHING_ASKED[talk_language(plan.text)]
    confidence = Confidence(0.0, "low", "no document was looked into")
    cut = incomplete(draft.finish_reason) if draft else None
    held_back = draft.warnings if draft else ()
    warnings = (
        "this answer is not from your documents", *held_back, *([f"the answer is incomplete: {cut}"] if cut else []),
    )  # fmt: skip
    return _answer(
        run, plan, Evidence((), 0.0), text=text, citations=(), groundedness=Groundedness(0.0), confidence=confidence,
        hits=(), cited=frozenset(), draft=draft or Draft(text, None, None), warnings=warnings,
    )  # fmt: skip


def _answer(
    run: Run,
    plan: Plan,
    evidence: Evidence,
    *,
    text: str,
    citations: tuple[Citation, ...],
    groundedness: Groundedness,
    confidence: Confidence,
    hits: Sequence[Hit],
    cited: frozenset[int],
    draft: Draft,
    warnings: tuple[str, ...],
) -> Answer:
    metadata = AnswerMetadata(
        chunks_retrieved=len(evidence.hits), model=draft.model, finish_reason=draft.finish_reason, trace_id=run.id,
        usage=draft.usage, durations_ms=run.durations(), rewritten_query=plan.question.standalone, plan=plan.reasons,
        corrected_query=plan.question.corrected,
    )  # fmt: skip
    return Answer(
        id=run.answer_id, text=text, strategy=plan.strategy, sources=sources_of(hits, cited), citations=citations,
        related_documents=related_documents(evidence.hits, run.settings.category_labels), confidence=confidence, groundedness=groundedness,
        context_sufficiency=Sufficiency(
            bool(hits) and evidence.coverage >= COVERED, round(evidence.coverage, 4), evidence.missing
        ),
        has_relevant_sources=bool(hits), metadata=metadata, warnings=(*run.warnings, *warnings),
        degraded=tuple(run.degraded),
        intent=plan.intent, question_type=plan.reading.type, suggested_questions=draft.suggested_questions,
        intelligence_level=run.settings.answers.level,
    )  # fmt: skip


def _quoted(quote: Quote, text: str, sources: Sequence[Hit]) -> Citation:
    """The citation of a passage that was chosen by code."""
    mark = Mark(text[quote.mark_start : quote.mark_end], quote.mark_start, quote.mark_end, quote.source, "code")
    return _resolved(mark, sources[quote.source - 1].chunk, Aligned(quote.start, quote.end, 1.0))


def _citation(mark: Mark, text: str, marks: Sequence[Mark], sources: Sequence[Hit]) -> Citation:
    """The citation behind a mark that a model wrote; one that names no source stays unmatched."""
    if mark.source is None:
        return Citation(mark.text, mark.start, mark.end, False, None, None, "", None, None, None, None, None, 0.0)
    chunk = sources[mark.source - 1].chunk
    return _resolved(mark, chunk, align(_claim(text, mark, marks), chunk))


def _resolved(mark: Mark, chunk: Found, found: Aligned) -> Citation:
    start, end = chunk.start_char + found.start, chunk.start_char + found.end
    return Citation(
        text=mark.text, start=mark.start, end=mark.end, matched=True, matched_by=mark.matched_by, source=mark.source,
        quote=chunk.text[found.start : found.end], quote_start_char=start, quote_end_char=end,
        quote_start_line=chunk.start_line + chunk.text.count("\n", 0, found.start),
        quote_end_line=chunk.start_line + chunk.text.count("\n", 0, max(found.start, found.end - 1)),
        page=bisect_right(chunk.page_starts, start) or None, support=round(found.support, 4),
    )  # fmt: skip


def _claim(text: str, mark: Mark, marks: Sequence[Mark]) -> str:
    """What a mark vouches for: the sentence it stands in or after."""
    before = max(
        (other.end for other in marks if other.end <= mark.start and _says_something(text, other.end, mark.start)),
        default=0,
    )
    stretch = text[before : mark.start]
    spans = sentences(stretch)
    return stretch[spans[-1][0] : spans[-1][1]] if spans else stretch


def _says_something(text: str, start: int, end: int) -> bool:
    return any(char.isalnum() for char in text[start:end])


def align(claim: str, chunk: Found) -> Aligned:
    """The sentence of a chunk, or two in a row, that holds most of what the claim says."""
    wanted = set(terms(claim, chunk.language))
    spans, held = _said(chunk.text, chunk.language)
    best = Aligned(*spans[0], 0.0)
    best_rank = (0.0, 0.0)
    for n, (start, _) in enumerate(spans):
        for last in (n, n + 1):
            if last >= len(spans):
                continue
            words = held[n] | held[last]
            shared = len(wanted & words)
            rank = (shared / len(wanted) if wanted else 0.0, shared / (len(words) or 1))
            if rank[0] > best_rank[0] + (0.15 if last > n else 0.0) or (last == n and rank > best_rank):
                best, best_rank = Aligned(start, spans[last][1], rank[0]), rank
    return best


@lru_cache(maxsize=128)
def _said(text: str, language: str) -> tuple[tuple[Span, ...], tuple[frozenset[str], ...]]:
    """The sentences of a passage and the words of each; one passage is often cited several times."""
    spans = tuple(sentences(text)) or ((0, len(text)),)
    return spans, tuple(frozenset(terms(text[start:end], language)) for start, end in spans)


def _groundedness(text: str, citations: Sequence[Citation]) -> Groundedness:
    """Each sentence with the best support among its citations; the score is the mean."""
    spans = _answer_sentences(text, citations)
    starts = [start for start, _ in spans]
    best: dict[int, Citation] = {}
    for citation in citations:
        n = max(0, bisect_right(starts, citation.start) - 1)
        if n not in best or citation.support > best[n].support:
            best[n] = citation
    judged = [
        GroundedSentence(start, end, best[n].support if n in best else 0.0, best[n].source if n in best else None)
        for n, (start, end) in enumerate(spans)
    ]
    score = sum(sentence.support for sentence in judged) / len(judged) if judged else 0.0
    return Groundedness(round(score, 4), tuple(judged))


def _answer_sentences(text: str, citations: Sequence[Citation]) -> list[tuple[int, int]]:
    """The answer's sentences; a mark after the full stop belongs to the sentence before it."""
    blank = list(text)
    for citation in citations:
        blank[citation.start : citation.end] = " " * (citation.end - citation.start)
    return sentences("".join(blank))


def _confidence(
    sources: Sequence[Hit], cited: frozenset[int], grounded: Groundedness, *, abstained: bool
) -> Confidence:
    """Relevance of what was cited times how far the answer stands on it."""
    if abstained:
        return Confidence(0.0, "low", "the sources found do not answer the question")
    relevant = [sources[number - 1].relevance for number in cited]
    score = round((max(relevant) if relevant else 0.0) * grounded.score, 4)
    level: ConfidenceLevel = "high" if score >= HIGH else "medium" if score >= MEDIUM else "low"
    return Confidence(score, level, _reason(relevant, grounded))


def _reason(relevant: Sequence[float], grounded: Groundedness) -> str:
    total = len(grounded.sentences)
    supported = sum(sentence.support >= SUPPORTED for sentence in grounded.sentences)
    sources = f"{len(relevant)} cited source{'' if len(relevant) == 1 else 's'}"
    if not relevant:
        return "no sentence cites a source"
    relevance = f"relevance {max(relevant):.0%}"
    stands = "every sentence supported" if supported == total else f"{supported} of {total} sentences supported"
    return f"{sources}, {relevance}, {stands}"


def _warnings(draft: Draft, text: str, grounded: Groundedness, citations: Sequence[Citation]) -> tuple[str, ...]:
    """What the reader should know before relying on the answer."""
    cut = incomplete(draft.finish_reason)
    found = [*draft.warnings, *([f"the answer is incomplete: {cut}"] if cut else [])]
    if draft.finish_reason == NO_ANSWER:
        return tuple(found)
    if not citations:
        found.append("the answer cites no source")
    elif grounded.score < SUPPORTED:
        found.append("parts of the answer are not supported by the sources cited")
    if text != draft.text:
        found.append("citations were put into one form, so the text differs from what was streamed")
    return tuple(found)


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
