"""Run a question set with several configurations, and compare their metrics."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pincite.core.accounts.access import LOCAL, Caller
from pincite.core.evaluations import Interval
from pincite.core.query.hits import Hit
from pincite.engine.app import AsyncPincite
from pincite.evaluate.measure import bootstrap
from pincite.evaluate.measure.metrics import judge
from pincite.evaluate.questions.datasets import QuestionSet
from pincite.evaluate.runner import Report, ask_all, count_notes, percentile
from pincite.evaluate.temporary_library import Corpus, temporary_library
from pincite.evaluate.variants import Variant

Judge = Callable[[Sequence[Hit]], Mapping[str, float]]
"""Computes the metrics of one question from its hits."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The results of one configuration: each metric and the time per question, and notes on degraded searches."""

    name: str
    scores: Mapping[str, tuple[float, ...]]
    times_ms: tuple[float, ...]
    notes: tuple[str, ...] = ()

    def mean(self, measure: str) -> Interval:
        """The mean of a metric over all questions, with its interval."""
        return bootstrap.mean(self.scores[measure])

    def against(self, first: "Trial", measure: str) -> Interval:
        """The paired difference of a metric to the first configuration."""
        return bootstrap.difference(first.scores[measure], self.scores[measure])

    @property
    def p50_ms(self) -> float:
        """The median time of a question."""
        return percentile(self.times_ms, 0.5)

    @property
    def p95_ms(self) -> float:
        """The 95th percentile of the time of a question."""
        return percentile(self.times_ms, 0.95)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The results of each configuration on a set; the first one is the baseline."""

    name: str
    documents: int
    questions: int
    trials: tuple[Trial, ...]

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the metrics, the main one first."""
        return tuple(self.trials[0].scores)


async def compare(
    questions: QuestionSet, variants: Sequence[Variant], *, keep: Path | None, report: Report
) -> Comparison:
    """Run every variant on a set; variants with the same index settings share one library."""
    corpus, ids = corpus_of(questions), list(questions.corpus)
    asked = [(text, _judge(questions, ids, key)) for key, text in questions.queries.items()]
    tried: dict[str, Trial] = {}
    for index in dict.fromkeys(variant.index for variant in variants):
        same_index = [variant for variant in variants if variant.index == index]
        async with temporary_library(corpus, same_index[0], keep=keep, report=report) as (pincite, left_out):
            notes = [f"not indexed: {one}" for one in left_out]
            for variant in same_index:
                tried[variant.name] = await run_variant(pincite, variant, asked, notes=notes, report=report)
    trials = tuple(tried[variant.name] for variant in variants)
    return Comparison(questions.name, len(questions.corpus), len(questions.queries), trials)


def corpus_of(questions: QuestionSet) -> Corpus:
    """Convert each document to a Markdown file with its title as heading; the file name is its number in the set."""
    files = {
        f"{number}.md": f"# {title}\n\n{text}\n" if title else f"{text}\n"
        for number, (title, text) in enumerate(questions.corpus.values())
    }
    return Corpus(questions.name.partition(".")[0], files, questions.fingerprint())


async def run_variant(
    pincite: AsyncPincite,
    variant: Variant,
    questions: Sequence[tuple[str, Judge]],
    *,
    notes: Sequence[str] = (),
    caller: Caller = LOCAL,
    report: Report,
) -> Trial:
    """Run every question with the settings of a variant, and compute its metrics."""
    judges = iter(judge_one for _, judge_one in questions)
    judged: list[Mapping[str, float]] = []
    times: list[float] = []
    said: list[str] = []
    texts = [text for text, _ in questions]
    async for response in ask_all(pincite, texts, variant.settings, caller=caller, report=report):
        judged.append(next(judges)(response.hits))
        times.append(response.ms)
        said.extend(response.notes)
    scores = {name: tuple(one[name] for one in judged) for name in judged[0]}
    return Trial(variant.name, scores, tuple(times), (*variant.missing, *notes, *count_notes(said)))


def _judge(questions: QuestionSet, ids: Sequence[str], key: str) -> Judge:
    return lambda hits: judge(_document_ranking(hits, ids), questions.qrels[key])


def _document_ranking(hits: Sequence[Hit], ids: Sequence[str]) -> list[str]:
    """Return the documents in the order of their best passages."""
    return list(dict.fromkeys(ids[int(hit.chunk.document_name.removesuffix(".md"))] for hit in hits))
