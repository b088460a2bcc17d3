"""The built-in extractive answerer: quotes and cites sentences without a language model, or declines to answer."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass

from pincite.core.protocols import LLM, Embedder, Reader
from pincite.core.query.hits import Hit, RetrievedChunk
from pincite.core.query.prompt import NO_ANSWER, Prompt, Quote, StreamPart
from pincite.core.query.reading import ReadableText, Reading
from pincite.errors import Unavailable
from pincite.extractive.abstain import answer_probability, is_unfounded, needed_probability, refusal, without_missing
from pincite.extractive.compose import AnswerPart, compose_answer
from pincite.extractive.document_name import named_answer, names_to_read
from pincite.extractive.filter import without_others
from pincite.extractive.question import QuestionTerms, question_terms, with_follow_up
from pincite.extractive.score import ScoredSentence, rank_candidates, score_sentences, term_shares
from pincite.extractive.sentences import Sentence, sentences_of, with_initials
from pincite.extractive.table.answers import table_answer
from pincite.extractive.whole.comparison import compared
from pincite.extractive.whole.summary import summarised
from pincite.extractive.whole.whole_list import (
    Listing,
    best_list,
    embedded_text,
    enumerations_first,
    is_about,
    likely_lists,
    list_parts,
    list_score,
    readable_list,
)
from pincite.models.calibration import FITTED, known_calibration, to_common_scale

MAX_EMBEDDED_SENTENCES = 32
"""Maximum number of sentences that are embedded; the rest share too few words with the question."""


MAX_READ_SOURCES = 10
"""Sources that the reader reads with the question: the first ones."""
MAX_READ_LISTS = 8
"""Lists that the reader reads with the question: those that share most with it."""
MIN_READ_LIST = 0.5
"""Probability of the reader from which on a list answers, whatever its sentences are."""
MAX_READ_WITHOUT_VALUE = 0.4
"""The highest probability for a sentence without the kind of value asked for."""
UNASKED_FORMS = ("sentence", "definition")
"""Forms of answers that a list gives where the reader finds the answer in it: `What belongs in the first-aid kit?`"""
MAX_UNASKED_LISTS = 4
MIN_READ_UNASKED, UNASKED_MARGIN, MIN_UNASKED_SCORE = 0.7, 0.2, 1.2
"""Probability of such a list, how far it must exceed the best sentence's, and the least score; see docs/evaluation.md."""


@dataclass(frozen=True, slots=True)
class Options:
    """No options."""


@dataclass(frozen=True, slots=True)
class Found:
    """The sentences that may answer a question, the best first; whether meaning was compared, and if not, why."""

    question: QuestionTerms
    scored: list[ScoredSentence]
    with_meaning: bool
    note: str | None


class Extractive:
    """Answers with quoted and cited sentences, in the form that the question asks for."""

    name = "extractive"
    window = 32_768

    def __init__(self, embedder: Embedder, reader: Reader | None = None) -> None:
        self._embedder = embedder
        self._reader = reader

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        """Stream the sentences that answer the question, or a refusal if none does."""
        question, sentences = _asked(prompt)
        parts, note = table_answer(question.text, question.language, question.answer.form, prompt.sources), None
        scored: list[ScoredSentence] = []
        if not parts:
            found = await self._find(question, sentences, prompt)
            note, scored = found.note, found.scored
            needed = without_missing(question, scored, prompt.asked)
            probability = answer_probability(needed, scored, with_meaning=found.with_meaning)
            answered = probability >= needed_probability(question, scored) and not is_unfounded(needed, scored)
            if scored or not sentences:
                parts = await self._whole(question, scored, prompt.sources, likely_answered=answered)
            if not parts and not answered:
                parts = await self._named(question, prompt.sources)
            if not parts and not answered:
                yield StreamPart(refusal(question, scored, sentences, prompt.elsewhere), note=note)
                yield StreamPart(finish_reason=NO_ANSWER, model=self.name)
                return
            ranked = enumerations_first(scored) if question.answer.form == "list" else scored
            parts = parts or compose_answer(question, ranked, prompt.sources)
        for number, part in enumerate(parts):
            yield StreamPart(
                f"{part.gap if number else ''}{part.text} [Source {part.source}]",
                quote=Quote(
                    part.source,
                    part.start,
                    part.end,
                    computed=part.computed,
                    document_name=part.document_name,
                    read=read_probability(part, scored),
                ),
                note=None if number else note,
            )
        yield StreamPart(finish_reason="stop", model=self.name)

    async def find(self, prompt: Prompt) -> Found:
        """The sentences of the sources that may answer, as an answer is made from them."""
        question, sentences = _asked(prompt)
        return await self._find(question, sentences, prompt)

    async def _find(self, question: QuestionTerms, sentences: Sequence[Sentence], prompt: Prompt) -> Found:
        fitting = without_others(question, sentences, prompt.sources, prompt.asked)
        readings = await self._readings(question.text, fitting, prompt.sources)
        likely = with_stated(rank_candidates(question, fitting, readings), MAX_EMBEDDED_SENTENCES, prompt)
        return Found(question, *await self._scored(question, likely, readings))

    async def _whole(
        self, question: QuestionTerms, found: Sequence[ScoredSentence], sources: Sequence[Hit], *, likely_answered: bool
    ) -> list[AnswerPart]:
        """A summary, a comparison or a list, where the question asks for one and the sources hold it."""
        form = question.answer.form
        if form == "summary":
            return summarised(question, sources)
        if form == "comparison":
            return compared(question, found, sources)
        if form in ("list", "steps"):
            return await self._listed(question, found, sources, likely_answered=likely_answered)
        return await self._unasked_list(question, found, sources) if form in UNASKED_FORMS else []

    async def _listed(
        self, question: QuestionTerms, found: Sequence[ScoredSentence], sources: Sequence[Hit], *, likely_answered: bool
    ) -> list[AnswerPart]:
        """The list that the question asks for."""
        likely = likely_lists(question, found, sources)
        scores, read = await self._score_lists(question, likely, found, sources)
        best = best_list(likely, scores)
        if best is None:
            return []
        sure = (read[likely.index(best)] or 0.0) >= MIN_READ_LIST
        return list_parts(best, sources) if sure or likely_answered or is_about(question, best, sources) else []

    async def _unasked_list(
        self, question: QuestionTerms, found: Sequence[ScoredSentence], sources: Sequence[Hit]
    ) -> list[AnswerPart]:
        """The list that answers by the reader, much more probably than any sentence, where no word asks for one."""
        likely = likely_lists(question, found, sources)[:MAX_UNASKED_LISTS] if self._reader else []
        if not likely:
            return []
        scores, read = await self._score_lists(question, likely, found, sources)
        score, probability, best = max(zip(scores, read, likely, strict=True), key=lambda one: one[0])
        sentence = found[0].features.get("read", 0.0) if found else 0.0
        sure = (probability or 0.0) >= max(MIN_READ_UNASKED, sentence + UNASKED_MARGIN)
        return list_parts(best, sources) if sure and score >= MIN_UNASKED_SCORE and len(best.items) > 1 else []

    async def _score_lists(
        self,
        question: QuestionTerms,
        likely: Sequence[Listing],
        found: Sequence[ScoredSentence],
        sources: Sequence[Hit],
    ) -> tuple[list[float], list[float | None]]:
        """The score of each list, and the reader's probability that it answers."""
        try:
            meanings = await self._cosines(question.text, [embedded_text(one, sources) for one in likely])
        except Unavailable:
            meanings = []
        read = await self._read_lists(question.text, likely, sources)
        scores = [
            list_score(question, one, found, sources, meaning, reading)
            for one, meaning, reading in zip(likely, meanings or [0.0] * len(likely), read, strict=True)
        ]
        return scores, read

    async def _read_lists(self, question: str, likely: Sequence[Listing], sources: Sequence[Hit]) -> list[float | None]:
        """The reader's probability that each of the first lists answers; None for the others."""
        if self._reader is None:
            return [None] * len(likely)
        read = await self._reader.read(question, [readable_list(one, sources) for one in likely[:MAX_READ_LISTS]])
        return [*(one.answerable for one in read), *([None] * (len(likely) - len(read)))]

    async def _named(self, question: QuestionTerms, sources: Sequence[Hit]) -> list[AnswerPart]:
        """The value that the title of a source's document or the name of its file gives, where the reader finds one."""
        names = names_to_read(question, sources) if self._reader else []
        if self._reader is None or not names:
            return []
        read = await self._reader.read(question.text, [one.readable() for one in names])
        part = named_answer(question, names, read, sources)
        return [part] if part else []

    async def _scored(
        self, question: QuestionTerms, sentences: Sequence[Sentence], readings: Mapping[int, Reading]
    ) -> tuple[list[ScoredSentence], bool, str | None]:
        """The sentences with their scores, the best first; whether meaning was compared, and if not, why."""
        note = None
        try:
            cosines = await self._cosines(question.text, [sentence.embedded_text for sentence in sentences])
        except Unavailable as error:
            cosines, note = [], f"sentences were chosen by their words alone: {error}"
        cosines_or_shares = cosines or term_shares(question, sentences)
        return score_sentences(question, sentences, cosines_or_shares, readings), bool(cosines), note

    async def _readings(
        self, question: str, sentences: Sequence[Sentence], sources: Sequence[Hit]
    ) -> dict[int, Reading]:
        """What the reader finds in each source that has one of the sentences; empty without a reader."""
        if self._reader is None:
            return {}
        numbers = sorted({sentence.source for sentence in sentences})[:MAX_READ_SOURCES]
        read = await self._reader.read(question, [readable(sources[number - 1].chunk) for number in numbers])
        return dict(zip(numbers, read, strict=True))

    async def _cosines(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the cosine of each text to the question, on the common scale; empty if cosines cannot be used."""
        scale = known_calibration(self._embedder) or FITTED
        if not texts or to_common_scale(scale, 0.0) is None:
            return []
        [wanted] = await self._embedder.embed([question], as_query=True)
        firsts = [self._embedder.windows(text)[0] for text in texts]
        vectors = await self._embedder.embed(firsts, as_query=False)
        cosines = (sum(a * b for a, b in zip(wanted, vector, strict=True)) for vector in vectors)
        return [to_common_scale(scale, cosine) or 0.0 for cosine in cosines]


def read_probability(part: AnswerPart, scored: Sequence[ScoredSentence]) -> float | None:
    """The highest probability of the reader for a sentence that a part quotes; None where it read none of them.

    A sentence without the kind of value that the question asks for answers at most in part, whatever the reader says.
    """
    read = [
        min(one.features["read"], MAX_READ_WITHOUT_VALUE if one.features.get("lacks_kind") else 1.0)
        for one in scored
        if "read" in one.features
        and one.sentence.source == part.source
        and one.sentence.start < part.end
        and part.start < one.sentence.end
    ]
    return max(read, default=None)


def with_stated(ranked: Sequence[Sentence], most: int, prompt: Prompt) -> list[Sentence]:
    """The best sentences, and those that state a fact of the knowledge graph."""
    starts = {hit.chunk.key: (number, hit.chunk.start_char) for number, hit in enumerate(prompt.sources, start=1)}
    stated = [(*starts[one.chunk], one.start, one.end) for one in prompt.facts if one.chunk in starts]
    further = [
        one
        for one in ranked[most:]
        if any(
            one.source == source and start - base < one.end and one.start < end - base
            for source, base, start, end in stated
        )
    ]
    return [*ranked[:most], *further]


def _asked(prompt: Prompt) -> tuple[QuestionTerms, list[Sentence]]:
    """The question of a prompt, and the sentences of its sources."""
    sentences = with_initials(sentences_of(prompt.sources), prompt.question)
    return with_follow_up(question_terms(prompt.question, sentences), prompt.asked, sentences), sentences


def readable(chunk: RetrievedChunk) -> ReadableText:
    """A passage as the reader reads it: under its title and headings, and the names of its columns."""
    above = dict.fromkeys(part for part in (chunk.title, *chunk.heading_path, chunk.header) if part)
    return ReadableText(chunk.text, "\n".join([*above, ""]))


def make_llm(options: Options, embedder: Embedder, reader: Reader | None = None) -> LLM:
    """Create the language model; called by `plugins.load`, which passes the embedder and the reader."""
    return Extractive(embedder, reader)
