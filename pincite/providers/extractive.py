"""The built-in extractive answerer: quotes and cites sentences without a language model, or declines to answer."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from pincite.core.protocols import LLM, Embedder
from pincite.core.query.prompt import NO_ANSWER, Prompt, Quote, StreamPart
from pincite.errors import Unavailable
from pincite.extractive.abstain import MIN_PROBABILITY, answer_probability, refusal
from pincite.extractive.compose import compose_answer
from pincite.extractive.filter import without_others
from pincite.extractive.question import QuestionTerms, question_terms
from pincite.extractive.score import ScoredSentence, rank_by_terms, score_sentences, term_shares
from pincite.extractive.sentences import Sentence, sentences_of
from pincite.extractive.table.answers import table_answer
from pincite.models.calibration import FITTED, known_calibration, to_common_scale

MAX_EMBEDDED_SENTENCES = 32
"""Maximum number of sentences that are embedded; the rest share too few words with the question."""


@dataclass(frozen=True, slots=True)
class Options:
    """No options."""


class Extractive:
    """Answers with quoted and cited sentences, in the form that the question asks for."""

    name = "extractive"
    window = 32_768

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        """Stream the sentences that answer the question, or a refusal if none does."""
        sentences = sentences_of(prompt.sources)
        question = question_terms(prompt.question, sentences)
        parts, note = table_answer(question.text, question.language, question.answer.form, prompt.sources), None
        if not parts:
            sentences = without_others(question, sentences, prompt.sources)
            found, with_meaning, note = await self._scored(
                question, rank_by_terms(question, sentences)[:MAX_EMBEDDED_SENTENCES]
            )
            if answer_probability(question, found, with_meaning=with_meaning) < MIN_PROBABILITY:
                yield StreamPart(refusal(question, found), note=note)
                yield StreamPart(finish_reason=NO_ANSWER, model=self.name)
                return
            parts = compose_answer(question, found, prompt.sources)
        for number, part in enumerate(parts):
            yield StreamPart(
                f"{part.gap if number else ''}{part.text} [Source {part.source}]",
                quote=Quote(part.source, part.start, part.end, computed=part.computed),
                note=None if number else note,
            )
        yield StreamPart(finish_reason="stop", model=self.name)

    async def _scored(
        self, question: QuestionTerms, sentences: Sequence[Sentence]
    ) -> tuple[list[ScoredSentence], bool, str | None]:
        """The sentences with their scores, the best first; whether meaning was compared, and if not, why."""
        note = None
        try:
            cosines = await self._cosines(question.text, sentences)
        except Unavailable as error:
            cosines, note = [], f"sentences were chosen by their words alone: {error}"
        cosines_or_shares = cosines or term_shares(question, sentences)
        return score_sentences(question, sentences, cosines_or_shares), bool(cosines), note

    async def _cosines(self, question: str, sentences: Sequence[Sentence]) -> list[float]:
        """Return the cosine of each sentence to the question, on the common scale; empty if cosines cannot be used."""
        scale = known_calibration(self._embedder) or FITTED
        if not sentences or to_common_scale(scale, 0.0) is None:
            return []
        [wanted] = await self._embedder.embed([question], as_query=True)
        texts = [self._embedder.windows(sentence.embedded_text)[0] for sentence in sentences]
        vectors = await self._embedder.embed(texts, as_query=False)
        cosines = (sum(a * b for a, b in zip(wanted, vector, strict=True)) for vector in vectors)
        return [to_common_scale(scale, cosine) or 0.0 for cosine in cosines]


def make_llm(options: Options, embedder: Embedder) -> LLM:
    """Create the language model; called by `plugins.load`, which passes the embedder."""
    return Extractive(embedder)
