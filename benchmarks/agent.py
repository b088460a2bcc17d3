"""Agent answers on a question set compared with plain chat: sources used, steps and limits.

    ./run bench agent --data DIR [--set hotpotqa100] [--most N] [--work DIR] [--llm provider=llama,path=FILE …]

Each line is one way to ask the same questions in one library: plain chat, the agent by rules (no model), and the agent
with the shipped stub as a planner, which calls tools natively or writes its calls as plain text. `--llm` adds a line
with another model. The benchmark fails if a citation does not resolve or a limit is exceeded.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pincite.config.sources import load_settings, with_values
from pincite.core.documents.document import ReadRequest
from pincite.core.query.answer import Answer
from pincite.core.query.question import Mode, Question
from pincite.engine.app import AsyncPincite
from pincite.evaluate.compare import corpus_of
from pincite.evaluate.measure.bootstrap import difference
from pincite.evaluate.questions.datasets import QuestionSet, load_set
from pincite.evaluate.runner import percentile
from pincite.evaluate.temporary_library import temporary_library
from pincite.evaluate.variants import Variant
from pincite.query.agent.scratchpad import MAX_PASSAGES
from pincite.stub import StubLLM

COLUMNS = ("way", "right documents among the sources", "all of them", "sources", "steps", "most", "failed", "p50")


@dataclass(frozen=True)
class Way:
    """One way to ask: a mode, and the model's settings."""

    name: str
    mode: Mode
    llm: Mapping[str, Any]


@dataclass
class Line:
    """What came of it, question by question."""

    recall: list[float]
    answers: list[Answer]
    times: list[float]
    wrong: list[str]


async def measured(pincite: AsyncPincite, questions: QuestionSet, way: Way) -> Line:
    """Ask every question that way."""
    ids, line = list(questions.corpus), Line([], [], [], [])
    for number, (key, text) in enumerate(questions.queries.items(), start=1):
        begun = time.perf_counter()
        answer = await pincite.ask(Question(text, mode=way.mode, fresh=True))
        line.times.append((time.perf_counter() - begun) * 1000)
        right = {name for name, grade in questions.qrels[key].items() if grade > 0}
        named = {ids[int(source.document_name.removesuffix(".md"))] for source in answer.sources}
        line.recall.append(len(right & named) / len(right))
        line.answers.append(answer)
        line.wrong += [f"{way.name}, {key}: {what}" for what in await wrongs(pincite, answer)]
        print(f"{way.name}: {number} of {len(questions.queries)}", end="\r", file=sys.stderr, flush=True)
    return line


async def wrongs(pincite: AsyncPincite, answer: Answer) -> list[str]:
    """What an answer may never do: cite what does not stand there, or go beyond its bounds."""
    found, most = list[str](), pincite.settings.agent.max_iterations
    for citation in answer.citations:
        if not citation.matched or citation.source is None:
            found.append(f"{citation.text} resolves to nothing")
            continue
        source = answer.sources[citation.source - 1]
        text = (await pincite.documents.read(ReadRequest(source.document_id, version=source.version))).content
        if text[citation.quote_start_char : citation.quote_end_char] != citation.quote:
            found.append(f"{citation.text} is no quotation")
    found += ["more sources than an answer may have"] * (len(answer.sources) > MAX_PASSAGES)
    found += ["more steps than turns allow"] * (len(answer.metadata.steps) > 5 * most)
    return found


def row(way: Way, line: Line, first: Line) -> str:
    """One line of the table."""
    steps = [len(answer.metadata.steps) for answer in line.answers]
    failed = sum(step.failed for answer in line.answers for step in answer.metadata.steps)
    change = difference(first.recall, line.recall)
    told = "" if line is first else f" ({change.value:+.3f}, {change.low:+.3f} to {change.high:+.3f})"
    mean = sum(line.recall) / len(line.recall)
    cells = (
        way.name, f"{mean:.4f}{told}", f"{sum(one == 1 for one in line.recall) / len(line.recall):.2f}",
        f"{sum(len(answer.sources) for answer in line.answers) / len(line.answers):.1f}",
        f"{sum(steps) / len(steps):.1f}", f"{max(steps)}", f"{failed}", f"{percentile(line.times, 0.5):.0f} ms",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


async def run(questions: QuestionSet, ways: Sequence[Way], keep: Path) -> list[str]:
    """Print a line for each way; what went wrong."""
    found, first = list[str](), None
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}", flush=True)
    for way in ways:
        settings = with_values(load_settings(), {f"llm.{key}": value for key, value in way.llm.items()})
        variant = Variant(way.name, settings)
        async with temporary_library(corpus_of(questions), variant, keep=keep, report=lambda _: None) as (pincite, _):
            line = await measured(pincite, questions, way)
        first = first or line
        found += line.wrong
        print(row(way, line, first), flush=True)
    return found


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(
        prog="./run bench agent", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the question sets")
    parser.add_argument("--set", default="hotpotqa100")
    parser.add_argument("--most", type=int, default=None, help="ask only so many questions")
    parser.add_argument("--work", type=Path, help="folder to keep the index in between runs")
    parser.add_argument(
        "--llm", action="append", default=[], help="a further line: settings llm.* of a model, by comma"
    )
    chosen = parser.parse_args()
    questions = load_set(chosen.data / chosen.set)
    questions = replace(questions, queries=dict(list(questions.queries.items())[: chosen.most]))
    with ExitStack() as held:
        keep = chosen.work or Path(held.enter_context(tempfile.TemporaryDirectory(prefix="pincite-agent-")))
        found = asyncio.run(run(questions, ways(held, chosen.llm), keep))
    for wrong in found:
        print(wrong)
    raise SystemExit(1 if found else 0)


def ways(held: ExitStack, own: Sequence[str]) -> list[Way]:
    """Plain chat, the agent by rules and with the stub, and with each model of one's own."""
    native = held.enter_context(StubLLM(behaviour="plan"))
    plain = held.enter_context(StubLLM(behaviour="plan"))
    return [
        Way("chat", "chat", {}),
        Way("agent by rules", "agent", {}),
        Way("agent, the stub calls tools", "agent", {"base_url": native.url}),
        Way("agent, the stub in plain text", "agent", {"base_url": plain.url, "tools": False}),
        *(Way(f"agent, {text}", "agent", dict(part.split("=", 1) for part in text.split(","))) for text in own),
    ]


if __name__ == "__main__":
    main()
