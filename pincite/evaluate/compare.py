"""A question set asked with one configuration or several: what each finds, and what the difference is worth."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pincite.core.evaluations import Interval
from pincite.core.query.hits import Hit
from pincite.engine.app import AsyncPincite
from pincite.evaluate.measure import bootstrap
from pincite.evaluate.measure.metrics import judge
from pincite.evaluate.questions.datasets import QuestionSet
from pincite.evaluate.runner import Report, ask_all, counted, percentile
from pincite.evaluate.temporary_library import Corpus, library_of
from pincite.evaluate.variants import Variant

Judge = Callable[[Sequence[Hit]], Mapping[str, float]]
"""What the hits of one question are worth."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One configuration over all questions: each measure question by question, each question's time, what was missing."""

    name: str
    scores: Mapping[str, tuple[float, ...]]
    times_ms: tuple[float, ...]
    notes: tuple[str, ...] = ()

    def mean(self, measure: str) -> Interval:
        """A measure over all questions, with its interval."""
        return bootstrap.mean(self.scores[measure])

    def against(self, first: "Trial", measure: str) -> Interval:
        """What is different from the first, question by question."""
        return bootstrap.difference(first.scores[measure], self.scores[measure])

    @property
    def p50_ms(self) -> float:
        """Half of the questions took no longer."""
        return percentile(self.times_ms, 0.5)

    @property
    def p95_ms(self) -> float:
        """Nineteen of twenty questions took no longer."""
        return percentile(self.times_ms, 0.95)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A set and how each configuration did on it, the one to compare with first."""

    name: str
    documents: int
    questions: int
    trials: tuple[Trial, ...]

    @property
    def measures(self) -> tuple[str, ...]:
        """What was measured, the one that decides first."""
        return tuple(self.trials[0].scores)


async def compare(
    questions: QuestionSet, variants: Sequence[Variant], *, keep: Path | None, report: Report
) -> Comparison:
    """Try every variant on a set; those that index alike share one library."""
    corpus, ids = corpus_of(questions), list(questions.corpus)
    asked = [(text, _judge(questions, ids, key)) for key, text in questions.queries.items()]
    tried: dict[str, Trial] = {}
    for index in dict.fromkeys(variant.index for variant in variants):
        alike = [variant for variant in variants if variant.index == index]
        async with library_of(corpus, alike[0], keep=keep, report=report) as (pincite, left_out):
            notes = [f"not taken in: {one}" for one in left_out]
            for variant in alike:
                tried[variant.name] = await try_out(pincite, variant, asked, notes=notes, report=report)
    trials = tuple(tried[variant.name] for variant in variants)
    return Comparison(questions.name, len(questions.corpus), len(questions.queries), trials)


def corpus_of(questions: QuestionSet) -> Corpus:
    """Each document as a Markdown file, its title as the heading; the name is its number in the set."""
    files = {
        f"{number}.md": f"# {title}\n\n{text}\n" if title else f"{text}\n"
        for number, (title, text) in enumerate(questions.corpus.values())
    }
    return Corpus(questions.name.partition(".")[0], files, questions.fingerprint())


async def try_out(
    pincite: AsyncPincite,
    variant: Variant,
    questions: Sequence[tuple[str, Judge]],
    *,
    notes: Sequence[str] = (),
    report: Report,
) -> Trial:
    """Ask every question as the variant says, and let its own judge say what the hits are worth."""
    judges = iter(judge_one for _, judge_one in questions)
    judged: list[Mapping[str, float]] = []
    times: list[float] = []
    said: list[str] = []
    async for response in ask_all(pincite, [text for text, _ in questions], variant.settings, report=report):
        judged.append(next(judges)(response.hits))
        times.append(response.ms)
        said.extend(response.notes)
    scores = {name: tuple(one[name] for one in judged) for name in judged[0]}
    return Trial(variant.name, scores, tuple(times), (*variant.missing, *notes, *counted(said)))


def _judge(questions: QuestionSet, ids: Sequence[str], key: str) -> Judge:
    return lambda hits: judge(_ranked(hits, ids), questions.qrels[key])


def _ranked(hits: Sequence[Hit], ids: Sequence[str]) -> list[str]:
    """The documents in the order of their best passages."""
    return list(dict.fromkeys(ids[int(hit.chunk.document_name.removesuffix(".md"))] for hit in hits))
