"""The built-in extractive answerer: quotes and cites sentences without a language model, or declines to answer."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from pincite.core.protocols import LLM, Embedder
from pincite.core.query.fixed_answers import NO_ANSWER
from pincite.core.query.prompt import Prompt, Quote, StreamPart
from pincite.errors import Unavailable
from pincite.extractive.abstain import LEAST, likelihood, refusal
from pincite.extractive.compose import say
from pincite.extractive.question import Asked, ask
from pincite.extractive.score import Fit, by_words, fits, shared
from pincite.extractive.sentences import Sentence, sentences_of
from pincite.models.calibration import FITTED, known_calibration, to_fitted_scale

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
        asked = ask(prompt.question, sentences)
        found, meant, note = await self._fits(asked, by_words(asked, sentences)[:MAX_EMBEDDED_SENTENCES])
        if likelihood(asked, found, with_meaning=meant) < LEAST:
            yield StreamPart(refusal(asked, found), note=note)
            yield StreamPart(finish_reason=NO_ANSWER, model=self.name)
            return
        for number, said in enumerate(say(asked, found, prompt.sources)):
            yield StreamPart(
                f"{said.gap if number else ''}{said.text} [Source {said.source}]",
                quote=Quote(said.source, said.start, said.end),
                note=None if number else note,
            )
        yield StreamPart(finish_reason="stop", model=self.name)

    async def _fits(self, asked: Asked, sentences: Sequence[Sentence]) -> tuple[list[Fit], bool, str | None]:
        """Return the scored sentences, best first, whether embeddings were used, and a note if they were not."""
        note = None
        try:
            cosines = await self._cosines(asked.text, sentences)
        except Unavailable as error:
            cosines, note = [], f"sentences were chosen by their words alone: {error}"
        return fits(asked, sentences, cosines or shared(asked, sentences)), bool(cosines), note

    async def _cosines(self, question: str, sentences: Sequence[Sentence]) -> list[float]:
        """Return the cosine of each sentence to the question, on the fitted scale; empty if cosines cannot be used."""
        scale = known_calibration(self._embedder) or FITTED
        if not sentences or to_fitted_scale(scale, 0.0) is None:
            return []
        [wanted] = await self._embedder.embed([question], as_query=True)
        texts = [self._embedder.windows(sentence.means)[0] for sentence in sentences]
        vectors = await self._embedder.embed(texts, as_query=False)
        cosines = (sum(a * b for a, b in zip(wanted, vector, strict=True)) for vector in vectors)
        return [to_fitted_scale(scale, cosine) or 0.0 for cosine in cosines]


def make_llm(options: Options, embedder: Embedder) -> LLM:
    """Create the language model; called by `plugins.load`, which passes the embedder."""
    return Extractive(embedder)
