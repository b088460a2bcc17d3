"""Every strategy, switch and profile on every question set: benefit and cost of each.

    ./run bench switches --data DIR [--set scifact …] [--most N] [--work DIR]

The first line is the default; the others differ from it by the setting in their name. There are two tables: the results
of a search, and the sources of an answer (some switches act only there). Of a set with more than `--most` questions,
every second, third … is asked.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pincite import AsyncPincite
from pincite.config.profiles import find_profile
from pincite.config.schema import catalogue
from pincite.config.sources import load_settings, with_values
from pincite.core.evaluations import Interval
from pincite.core.query.question import Question
from pincite.evaluate.compare import corpus_of
from pincite.evaluate.measure import bootstrap
from pincite.evaluate.measure.metrics import ndcg
from pincite.evaluate.questions.datasets import QuestionSet, load_set
from pincite.evaluate.runner import percentile
from pincite.evaluate.temporary_library import temporary_library
from pincite.evaluate.variants import UNCHANGED, Variant, read_variants

SETS = ("scifact", "hotpotqa100", "musique100", "xquad-en-de")

SEARCHES = (
    "rag.strategy=auto", "rag.strategy=dense_only", "rag.strategy=lexical_only", "rag.strategy=fusion",
    "rag.strategy=two_stage", "rag.strategy=hierarchical",
    "rag.fusion=rrf", "rag.relative_to=found", "rag.follow_titles=0", "rag.reranker=cosine", "spelling.enabled=false",
    "rag.knowledge_graph_enabled=true", "rag.dual_level=true",
    "rag.mmr=off", "rag.mmr=on", "rag.drop_duplicates=false",
    "rag.penalties.glossary=0,rag.penalties.contents=0,rag.penalties.image_credits=0",
    "rag.tree=true", "rag.late_interaction=true",
)  # fmt: skip
"""What changes the order of a search, each against the default."""
BUILDS = {"graph.build": "rules", "graph.vectors": True, "tree.build": "rules", "late.build": "on"}
"""What the engines of `SEARCHES` need; searches use it only where they ask for it, and the strategy `fusion`."""
EVIDENCE: Mapping[str, bool | float] = {
    "rag.verification_enabled": False,
    "rag.expansion.enabled": True,
    "rag.similarity_threshold": 0.0,
    "rag.second_look": True,
    "rag.drop_duplicates": False,
}
"""What changes what an answer stands on."""
PROFILES = ("zoeflow", "five-stage", "vexora", "local", "adaptive")
"""Each profile's query-time settings, on the library of the default."""


Changes = tuple[tuple[str, bool | float], ...]


@dataclass(frozen=True)
class Line:
    """One configuration on one set: each question's score, the time of a question, passages kept on average."""

    scores: tuple[float, ...]
    p50_ms: float
    kept: float = 0.0


def variants(texts: Sequence[str]) -> list[Variant]:
    """The default, then each of these."""
    base = with_values(load_settings(), BUILDS)
    return [Variant(UNCHANGED, base), *(one for text in texts for one in read_variants([text], base, {})[1:])]


def profiles() -> Iterator[Variant]:
    """What each profile says about asking; how it would index is another library's matter."""
    base = with_values(load_settings(), BUILDS)
    for name in PROFILES:
        values = {key: value for key, value in find_profile(name).values.items() if catalogue()[key].acts == "query"}
        named = ("llm.", "rag.reranker", "conversation.")
        yield Variant(
            f"profile={name}", with_values(base, {k: v for k, v in values.items() if not k.startswith(named)})
        )


async def searched(pincite: AsyncPincite, questions: QuestionSet, variants: Sequence[Variant]) -> dict[str, Line]:
    """nDCG@10 of what a search finds; all variants take turns with each question, so that their times compare."""
    ids = list(questions.corpus)
    scores: dict[str, list[float]] = {variant.name: [] for variant in variants}
    times: dict[str, list[float]] = {variant.name: [] for variant in variants}
    for number, (key, text) in enumerate(questions.queries.items(), start=1):
        for variant in variants:
            begun = time.perf_counter()
            result = await pincite.search(Question(text, top_k=10), settings=variant.settings)
            times[variant.name].append((time.perf_counter() - begun) * 1000)
            names = [ids[int(hit.chunk.document_name.removesuffix(".md"))] for hit in result.hits]
            scores[variant.name].append(ndcg(list(dict.fromkeys(names)), questions.qrels[key]))
        print(f"{questions.name}: {number} of {len(questions.queries)}", file=sys.stderr, flush=True)
    return {name: Line(tuple(found), percentile(times[name], 0.5)) for name, found in scores.items()}


async def stood_on(pincite: AsyncPincite, questions: QuestionSet, changes: Changes) -> Line:
    """The share of the right documents among an answer's sources, and how many sources it has."""
    ids, scores, kept, times = list(questions.corpus), list[float](), 0, list[float]()
    for key, text in questions.queries.items():
        answer = await pincite.ask(Question(text, changes=changes))
        right = {name for name, grade in questions.qrels[key].items() if grade > 0}
        named = {ids[int(source.document_name.removesuffix(".md"))] for source in answer.sources}
        scores.append(len(right & named) / len(right))
        kept += len(answer.sources)
        times.append(sum(answer.metadata.durations_ms.values()))
    return Line(tuple(scores), percentile(times, 0.5), kept / max(1, len(scores)))


async def measure(questions: QuestionSet, keep: Path | None) -> tuple[dict[str, Line], dict[str, Line]]:
    """Both tables' lines on one set."""
    default = with_values(load_settings(), BUILDS)
    used: dict[str, Line] = {}
    async with temporary_library(
        corpus_of(questions), Variant(UNCHANGED, default), keep=keep, report=lambda _: None
    ) as (
        pincite,
        _,
    ):
        found = await searched(pincite, questions, [*variants(SEARCHES), *profiles()])
        for name, changes in {UNCHANGED: (), **{f"{k}={v}".lower(): ((k, v),) for k, v in EVIDENCE.items()}}.items():
            used[name] = await stood_on(pincite, questions, changes)
    return found, used


def print_table(title: str, by_set: Mapping[str, Mapping[str, Line]], *, kept: bool) -> None:
    """Rows are configurations, columns sets; a difference beyond noise is told."""
    print(f"\n| {title} | {' | '.join(by_set)} | time |\n|---|{'---|' * len(by_set)}---|")
    for name in next(iter(by_set.values())):
        cells, times = list[str](), list[float]()
        for lines in by_set.values():
            first, line = lines[UNCHANGED], lines[name]
            change = bootstrap.difference(first.scores, line.scores)
            mean = sum(line.scores) / len(line.scores)
            cells.append(
                f"{mean:.4f}{_told(change) if name != UNCHANGED else ''}{f' ({line.kept:.1f})' if kept else ''}"
            )
            times.append(line.p50_ms / first.p50_ms)
        shown = "**default**" if name == UNCHANGED else f"`{name}`"
        print(f"| {shown} | {' | '.join(cells)} | {sum(times) / len(times):.2f} |")


def _told(change: Interval) -> str:
    if change.low > 0:
        return f", **better** {change.value:+.3f}"
    return f", worse {change.value:+.3f}" if change.high < 0 else ""


def thinned(questions: QuestionSet, most: int) -> QuestionSet:
    """So many questions at most, spread over the set."""
    step = -(-len(questions.queries) // most)
    return replace(questions, queries=dict(list(questions.queries.items())[::step]))


async def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the question sets")
    parser.add_argument("--set", action="append", dest="sets")
    parser.add_argument("--most", type=int, default=300)
    parser.add_argument("--work", type=Path, help="folder to keep indexes in between runs")
    options = parser.parse_args()
    results = {}
    for name in options.sets or SETS:
        results[name] = await measure(thinned(load_set(options.data / name), options.most), options.work)
        print_table("search, nDCG@10", {name: results[name][0]}, kept=False)
    print_table("search, nDCG@10", {name: found for name, (found, _) in results.items()}, kept=False)
    print_table(
        "right documents among an answer's sources (sources)",
        {name: used for name, (_, used) in results.items()},
        kept=True,
    )


if __name__ == "__main__":
    asyncio.run(main())
