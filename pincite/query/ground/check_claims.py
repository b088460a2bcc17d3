"""Every claim of an answer is compared with the passages it cites; one that cites none, with all there are."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pincite.core.protocols import Embedder
from pincite.core.query.answer import Groundedness, GroundedSentence, MatchedBy
from pincite.core.query.hits import Hit, RetrievedChunk
from pincite.core.query.prompt import Draft, Quote
from pincite.core.query.reading import ReadableText
from pincite.core.run import Run
from pincite.errors import Unavailable
from pincite.extractive.table.compute import is_computed
from pincite.extractive.tables import tables_in
from pincite.models.calibration import LEXICAL_ONLY, known_calibration, learn_calibration, to_common_scale
from pincite.query.citations.claims import Claim, claims_of
from pincite.query.citations.marks import CitationMark, normalise_marks
from pincite.query.ground.support import (
    MIN_SUPPORT,
    SupportVerdict,
    asks_reader,
    decide_by_cosine,
    decide_by_reader,
    decide_by_words,
    judge_claim,
    rank_passages,
)
from pincite.text.dictionary import dictionary, languages
from pincite.text.terms import question_language, words

MAX_SOURCES_COMPARED = 3
"""Sources that a claim without a mark is compared with in full: those that share most words with it."""
MIN_PART_SHARE = 0.25
"""Of a claim that several sources bear out together, each has to hold so much."""

COPIED_VERDICT = SupportVerdict(0, 0, 1.0, 1.0)
"""What is said of a claim that is its source's own words, or that its source's rows give when it is computed again."""
MISCOMPUTED_VERDICT = SupportVerdict(0, 0, 0.0, reason="the rows of the source give another value", refuted=True)
"""What is said of a computed value that the rows do not give."""
MISNAMED_VERDICT = SupportVerdict(0, 0, 0.0, reason="neither title nor file name of the source says so", refuted=True)
"""What is said of a value that is said to stand in the title or the name of a file, and does not."""

ClaimSource = tuple[int, int]
"""A claim and a source, by their numbers; sources are counted from 1."""


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """The claims of a draft, the sources each cites, and the verdict on each pair of claim and source.

    `copied` is whether code copied the text from its sources: then a claim with a mark needs no verdict.
    """

    text: str
    marks: tuple[CitationMark, ...]
    sentences: tuple[tuple[int, int], ...]
    claims: tuple[Claim, ...]
    cited: Mapping[int, Sequence[int]]
    verdicts: Mapping[ClaimSource, SupportVerdict]
    copied: bool = False

    @property
    def by_mark(self) -> dict[int, SupportVerdict]:
        """The verdict behind each mark that names a source."""
        return {
            mark: self.verdicts[number, self.marks[mark].source or 0]
            for number, claim in enumerate(self.claims)
            for mark in claim.marks
            if self.marks[mark].source
        }

    @property
    def aligned(self) -> tuple[tuple[Claim, int, SupportVerdict], ...]:
        """The claims without a mark that a source supports nevertheless, each with that source."""
        found = (
            _supporting_source(number, claim, self.verdicts)
            for number, claim in enumerate(self.claims)
            if not any(self.cited[number])
        )
        return tuple(one for one in found if one is not None)

    @property
    def groundedness(self) -> Groundedness:
        """How well each sentence is supported, and the mean."""
        return _groundedness(self.sentences, self.claims, self.cited, self.verdicts)


async def claim_check(run: Run, sources: Sequence[Hit], draft: Draft, question: str = "") -> ClaimCheck:
    """Compare every claim of a draft with the sources it cites: by rules, then by meaning where rules leave it open.

    A claim on the row of a table must be on the row that the question is about.
    """
    if draft.quotes:  # the answerer says itself what it cites; brackets in its quotes belong to the documents
        text, marks = draft.text, [_code_mark(quote, draft.text) for quote in draft.quotes]
    else:
        text, marks = normalise_marks(draft.text, sources, titled=run.settings.citations.form == "title")
    check = await check_text(run, text, marks, sources, copied=bool(draft.quotes), question=question)
    return _with_values_checked(check, draft.quotes, sources)


def _with_values_checked(check: ClaimCheck, quotes: Sequence[Quote], sources: Sequence[Hit]) -> ClaimCheck:
    """The check, with every computed value computed again, and every title and file name compared with the source's."""
    verdicts = dict(check.verdicts)
    for number, claim in enumerate(check.claims):
        for quote in (quotes[mark] for mark in claim.marks if quotes):
            chunk = sources[quote.source - 1].chunk
            if quote.computed and not _gives_value(quote, claim.text, chunk):
                verdicts[number, quote.source] = MISCOMPUTED_VERDICT
            if quote.document_name:
                said = _is_in_name(claim.text, quote.document_name, chunk)
                verdicts[number, quote.source] = COPIED_VERDICT if said else MISNAMED_VERDICT
    return replace(check, verdicts=verdicts)


def _is_in_name(claim: str, name: str, chunk: RetrievedChunk) -> bool:
    """Whether a claim repeats the title or file name of a passage, or consists of its words."""
    spoken = name.replace("_", " ")
    return name in (chunk.title, chunk.document_name) and (name in claim or set(words(claim)) <= set(words(spoken)))


def _gives_value(quote: Quote, claim: str, chunk: RetrievedChunk) -> bool:
    """Whether the claim has the computed value, and the rows that it was computed from give it again."""
    computed = quote.computed
    if computed is None or computed.value not in claim:
        return False
    language = question_language(claim)
    return any(is_computed(computed, table, language) for table in tables_in(chunk.text, chunk.header))


async def check_text(
    run: Run,
    text: str,
    marks: Sequence[CitationMark],
    sources: Sequence[Hit],
    *,
    copied: bool = False,
    question: str = "",
) -> ClaimCheck:
    """The claims of a text with their verdicts."""
    sentences, claims = claims_of(text, [(mark.start, mark.end) for mark in marks])
    claims = _inherit_next_mark(claims) if copied else claims
    marks = _nearest_sources(claims, marks, sources)
    cited = {n: [marks[m].source or 0 for m in claim.marks] for n, claim in enumerate(claims)}
    pairs = [(n, source) for n, named in cited.items() for source in _sources_to_compare(claims[n], named, sources)]
    judges = [source for n, source in pairs if not (copied and claims[n].marks)]
    for language in {sources[source - 1].chunk.language for source in judges} & set(languages()):
        await asyncio.to_thread(dictionary, language)
    verdicts = {
        (n, source): COPIED_VERDICT
        if copied and claims[n].marks
        else judge_claim(claims[n].text, sources[source - 1].chunk, question)
        for n, source in pairs
    }
    verdicts = await _by_meaning(run, claims, sources, verdicts)
    verdicts = {pair: _combined_verdict(pair, cited[pair[0]], claims, sources, verdicts) for pair in verdicts}
    return ClaimCheck(text, tuple(marks), tuple(sentences), tuple(claims), cited, verdicts, copied)


def _code_mark(quote: Quote, text: str) -> CitationMark:
    shown = text[quote.mark_start : quote.mark_end]
    by: MatchedBy = "computed" if quote.computed else "document_name" if quote.document_name else "code"
    return CitationMark(shown, quote.mark_start, quote.mark_end, quote.source, by)


def _nearest_sources(
    claims: Sequence[Claim], marks: Sequence[CitationMark], sources: Sequence[Hit]
) -> list[CitationMark]:
    """The marks, each that fits several sources with the one that shares most words with its claim."""
    chosen = list(marks)
    for claim in claims:
        for number in claim.marks:
            fitting = marks[number].fitting
            if len(fitting) > 1:
                ranked = rank_passages(claim.text, [sources[source - 1].chunk for source in fitting])
                chosen[number] = replace(marks[number], source=fitting[ranked[0] if ranked else 0])
    return chosen


def _inherit_next_mark(claims: Sequence[Claim]) -> list[Claim]:
    """The claims, each without a mark vouched for by that of the next one that has any."""
    marks, made = tuple[int, ...](), list[Claim]()
    for claim in reversed(claims):
        marks = claim.marks or marks
        made.append(replace(claim, marks=marks))
    return made[::-1]


def _sources_to_compare(claim: Claim, named: Sequence[int], sources: Sequence[Hit]) -> list[int]:
    """The sources a claim cites; where it has no mark, those nearest to it. A mark that leads nowhere is not repaired."""
    if named:
        return list(dict.fromkeys(source for source in named if source))
    return [number + 1 for number in rank_passages(claim.text, [hit.chunk for hit in sources])[:MAX_SOURCES_COMPARED]]


# --- by meaning ---------------------------------------------------------------------------------------------


async def _by_meaning(
    run: Run, claims: Sequence[Claim], sources: Sequence[Hit], verdicts: Mapping[ClaimSource, SupportVerdict]
) -> dict[ClaimSource, SupportVerdict]:
    """The verdicts, decided by the reader, or by the embedder where there is none."""
    if run.kit.reader is None:
        return await _by_cosine(run, claims, sources, verdicts)
    judged = {pair: verdict for pair, verdict in verdicts.items() if verdict is not COPIED_VERDICT}
    asked = [pair for pair in judged if asks_reader(judged[pair], claims[pair[0]].text, sources[pair[1] - 1].chunk)]
    texts = [(claims[number].text, ReadableText(sources[source - 1].chunk.text)) for number, source in asked]
    readings = await run.kit.reader.read_pairs(texts)
    read = {
        pair: decide_by_reader(verdicts[pair], reading.supported) for pair, reading in zip(asked, readings, strict=True)
    }
    return {pair: read.get(pair) or decide_by_words(verdict) for pair, verdict in verdicts.items()}


async def _by_cosine(
    run: Run, claims: Sequence[Claim], sources: Sequence[Hit], verdicts: Mapping[ClaimSource, SupportVerdict]
) -> dict[ClaimSource, SupportVerdict]:
    """The verdicts with those decided that were open; all texts are embedded in one go."""
    decided, unsure = dict(verdicts), [pair for pair, verdict in verdicts.items() if verdict.open]
    if not unsure:
        return decided
    chunks = {pair: sources[pair[1] - 1].chunk for pair in unsure}
    try:
        calibration = known_calibration(run.kit.embedder) or await learn_calibration(run.kit.embedder)
        cosines = await _cosines(
            run, [(claims[pair[0]].text, _aligned_text(chunks[pair], verdicts[pair])) for pair in unsure]
        )
    except Unavailable as error:
        run.degrade("grounding", f"claims were compared with their sources by words alone: {error}")
        calibration, cosines = LEXICAL_ONLY, [0.0] * len(unsure)
    for pair, cosine in zip(unsure, cosines, strict=True):
        decided[pair] = _decide(
            verdicts[pair], claims[pair[0]].text, chunks[pair], to_common_scale(calibration, cosine)
        )
    return decided


def _decide(verdict: SupportVerdict, claim: str, chunk: RetrievedChunk, cosine: float | None) -> SupportVerdict:
    return decide_by_words(verdict) if cosine is None else decide_by_cosine(verdict, claim, chunk, cosine)


async def _cosines(run: Run, pairs: Sequence[tuple[str, str]]) -> list[float]:
    embedder: Embedder = run.kit.embedder
    texts = [embedder.windows(text)[0] for pair in pairs for text in pair]
    vectors = await run.embed(texts)
    return [
        sum(a * b for a, b in zip(one, other, strict=True))
        for one, other in zip(vectors[::2], vectors[1::2], strict=True)
    ]


def _aligned_text(chunk: RetrievedChunk, verdict: SupportVerdict) -> str:
    return chunk.text[verdict.start : verdict.end]


# --- together -----------------------------------------------------------------------------------------------


def _combined_verdict(
    pair: ClaimSource,
    named: Sequence[int],
    claims: Sequence[Claim],
    sources: Sequence[Hit],
    verdicts: Mapping[ClaimSource, SupportVerdict],
) -> SupportVerdict:
    """The verdict on a source that bears out a part of a claim, where those cited beside it bear out the rest."""
    own, others = verdicts[pair], [source for source in dict.fromkeys(named) if source]
    if own.support >= MIN_SUPPORT or own.refuted or own.lexical < MIN_PART_SHARE or len(others) < 2:
        return own
    chunk = sources[pair[1] - 1].chunk
    parts = [_aligned_text(sources[source - 1].chunk, verdicts[pair[0], source]) for source in others]
    whole = judge_claim(claims[pair[0]].text, replace(chunk, text=" ".join(" ".join(part.split()) for part in parts)))
    whole = decide_by_words(whole)
    return replace(own, support=whole.support, reason=None) if whole.support >= MIN_SUPPORT else own


# --- what comes of it ---------------------------------------------------------------------------------------


def _supporting_source(
    number: int, claim: Claim, verdicts: Mapping[ClaimSource, SupportVerdict]
) -> tuple[Claim, int, SupportVerdict] | None:
    """The source that supports a claim which cites none, if there is one."""
    own = [(source, verdict) for (n, source), verdict in verdicts.items() if n == number]
    if claim.marks or not own:
        return None
    source, verdict = max(own, key=lambda one: one[1].support)
    return (claim, source, verdict) if verdict.support >= MIN_SUPPORT else None


def _groundedness(
    sentences: Sequence[tuple[int, int]],
    claims: Sequence[Claim],
    cited: Mapping[int, Sequence[int]],
    verdicts: Mapping[ClaimSource, SupportVerdict],
) -> Groundedness:
    """Each sentence with the support of its weakest claim, which is that of its best source; the score is the mean."""
    best: dict[int, tuple[float, int | None]] = {}
    for number, claim in enumerate(claims):
        own = [(verdict.support, source) for (n, source), verdict in verdicts.items() if n == number]
        support, source = max(own, default=(0.0, None))
        if not claim.marks and support < MIN_SUPPORT:
            source = None
        weakest = best.get(claim.sentence)
        if weakest is None or support < weakest[0]:
            best[claim.sentence] = (support, source)
    judged_sentences = tuple(
        GroundedSentence(start, end, round(best[n][0], 4), best[n][1]) for n, (start, end) in enumerate(sentences)
    )
    score = sum(one.support for one in judged_sentences) / len(judged_sentences) if judged_sentences else 0.0
    return Groundedness(round(score, 4), judged_sentences)
