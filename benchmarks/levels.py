"""Calls and times of each level: the sample questions at all four levels, with a model of fixed latency.

    ./run bench levels [--questions N] [--first-token-ms MS] [--token-ms MS]

The model is the stub, which quotes with a fixed time for the first token and for each further one. Times are those of
whole answers. They differ with a real model, but the number of calls does not.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pincite import AsyncPincite
from pincite.config.levels import levels
from pincite.core.query.question import EffortLevel, Question
from pincite.evaluate.runner import percentile
from pincite.stub import StubLLM

EXAMPLES = Path(__file__).parent.parent / "examples"
SCRIPT: list[dict[str, Any]] = [
    {"match": "Verdicts:$", "say": "\n".join(f"{number}: yes" for number in range(1, 51))},
    {"match": "Other words:$", "say": "the same in other words\nand once more"},
    {"match": "More general question:$", "say": "What is it about?"},
    {"match": "Passage:$", "say": "It is as somebody supposed."},
]


@dataclass(frozen=True)
class Cost:
    """What one answer took: calls of the model, tokens, searches, passages it stands on, seconds."""

    calls: int
    tokens: int
    searches: int
    sources: int
    seconds: float


async def asked(pincite: AsyncPincite, stub: StubLLM, question: Question) -> Cost:
    """One question, and what it cost."""
    before, begun = _completions(stub), time.perf_counter()
    answer = await pincite.ask(question)
    seconds = time.perf_counter() - begun
    trace = await pincite.services.traces.get(await pincite.scope(), answer.metadata.trace_id)
    searches = sum(span.name in ("vector_search", "lexical_search") for span in trace.spans)
    usage = answer.metadata.usage
    tokens = usage.prompt_tokens + usage.completion_tokens if usage else 0
    return Cost(_completions(stub) - before, tokens, searches, len(answer.sources), seconds)


def _completions(stub: StubLLM) -> int:
    return sum(call.path.endswith("/chat/completions") for call in stub.calls)


async def measure(pincite: AsyncPincite, stub: StubLLM, questions: Sequence[str]) -> dict[EffortLevel, list[Cost]]:
    """All levels take turns with each question."""
    found: dict[EffortLevel, list[Cost]] = {level: [] for level in levels()}
    for text in questions:
        for level, costs in found.items():
            costs.append(await asked(pincite, stub, replace(Question(text, fresh=True), intelligence_level=level)))
    return found


def table(found: dict[EffortLevel, list[Cost]]) -> str:
    """A line for each level, means a question and the median time."""
    lines = [
        "| level | calls of the model | tokens | searches | sources | seconds, median |",
        "|---|---|---|---|---|---|",
    ]
    for level, costs in found.items():
        calls, tokens, searches, sources = (
            sum(getattr(cost, name) for cost in costs) / len(costs)
            for name in ("calls", "tokens", "searches", "sources")
        )
        median = percentile([cost.seconds for cost in costs], 0.5)
        lines.append(f"| {level} | {calls:.1f} | {tokens:,.0f} | {searches:.1f} | {sources:.1f} | {median:.2f} |")
    return "\n".join(lines)


async def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--first-token-ms", type=float, default=300)
    parser.add_argument("--token-ms", type=float, default=10)
    options = parser.parse_args()
    questions = [row["question"] for row in json.loads((EXAMPLES / "questions.json").read_text(encoding="utf-8"))]
    paced = {"first_token_ms": options.first_token_ms, "token_ms": options.token_ms}
    with StubLLM(answers=SCRIPT, **paced) as stub, tempfile.TemporaryDirectory(prefix="pincite-levels-") as folder:
        async with AsyncPincite(folder, settings={"llm.base_url": stub.url, "llm.model": "stub-1"}) as pincite:
            for path in sorted((EXAMPLES / "documents").rglob("*.md")):
                await pincite.add(path)
            print(table(await measure(pincite, stub, questions[: options.questions])))


if __name__ == "__main__":
    asyncio.run(main())
