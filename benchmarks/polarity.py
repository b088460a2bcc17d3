"""Claims and their negations beside the passage that states them: by rules, by the reader, and by both.

    ./run bench polarity [--show both]

`benchmarks/polarity.jsonl` has 400 pairs, 200 in English and 200 in German, all written by hand and none from a text that
a shipped model was trained on; many German facts are those of the English part. The two claims of a pair differ in polarity only: the passage supports the first and
contradicts the second. `form` names what makes the difference. *Rules* is the check of claims as it is without a language
model: rules, and the embedder where they leave it open. *Reader* is the claim output of pincite-read alone. *Both* is the
check as it is by default: rules, then the reader where these do not object.

A pair is told apart where the claim is supported (.5 or more) and its negation is not.
"""

import argparse
import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.support import make_chunk
from pincite.core.protocols import Embedder
from pincite.core.query.reading import ReadableText
from pincite.models.calibration import known_calibration, to_common_scale
from pincite.providers import pincite_embed, reader
from pincite.query.ground.support import (
    MIN_SUPPORT,
    asks_reader,
    decide_by_cosine,
    decide_by_reader,
    decide_by_words,
    judge_claim,
)

FILE = Path(__file__).parent / "polarity.jsonl"
METHODS = ("rules", "reader", "both")


@dataclass(frozen=True, slots=True)
class Pair:
    """A passage, a claim it states, and the claim's negation; `form` is what makes the difference."""

    language: str
    form: str
    passage: str
    claim: str
    negation: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """How far each method takes a claim as supported."""

    rules: float
    reader: float
    both: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """A pair, and the judgements of its claim and its negation."""

    pair: Pair
    claim: Judgement
    negation: Judgement

    def supported(self, method: str) -> tuple[bool, bool]:
        """Whether the claim and its negation are taken as supported."""
        claim, negation = (getattr(one, method) >= MIN_SUPPORT for one in (self.claim, self.negation))
        return claim, negation

    def told_apart(self, method: str) -> bool:
        """Whether only the claim is taken as supported."""
        return self.supported(method) == (True, False)


def read_pairs(file: Path = FILE) -> list[Pair]:
    """All pairs."""
    return [Pair(**json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]


async def judge(pairs: Sequence[Pair]) -> list[Outcome]:
    """Judge both claims of each pair."""
    embedder = pincite_embed.make_embedder(pincite_embed.Options())
    passage_reader = reader.PassageReader(reader.Options())
    claims = [(text, pair) for pair in pairs for text in (pair.claim, pair.negation)]
    found = await passage_reader.read_pairs([(text, ReadableText(pair.passage)) for text, pair in claims])
    await passage_reader.close()
    judged = []
    for (text, pair), reading in zip(claims, found, strict=True):
        judged.append(Judgement(*await judge_by_rules(text, pair, embedder, reading.supported)))
    return [Outcome(pair, *two) for pair, *two in zip(pairs, judged[::2], judged[1::2], strict=True)]


async def judge_by_rules(text: str, pair: Pair, embedder: Embedder, supported: float) -> tuple[float, float, float]:
    """Support by rules and embedder, by the reader alone, and by rules and reader."""
    chunk = make_chunk(pair.passage, pair.language)
    verdict = judge_claim(text, chunk)
    both = decide_by_reader(verdict, supported) if asks_reader(verdict, text, chunk) else verdict
    if not verdict.open:
        return verdict.support, supported, both.support
    told = embedder.windows(chunk.text[verdict.start : verdict.end])[0]
    one, other = await embedder.embed([text, told], as_query=True)
    calibration = known_calibration(embedder)
    assert calibration is not None
    cosine = to_common_scale(calibration, float(np.dot(one, other)))
    final = decide_by_words(verdict) if cosine is None else decide_by_cosine(verdict, text, chunk, cosine)
    return final.support, supported, both.support


# --- what is told -------------------------------------------------------------------------------------------


def table(title: str, outcomes: Sequence[Outcome], group: Callable[[Outcome], str]) -> str:
    """The share of pairs told apart, by group and method."""
    groups: dict[str, list[Outcome]] = {}
    for one in outcomes:
        groups.setdefault(group(one), []).append(one)
    lines = [f"| {title} | pairs | {' | '.join(METHODS)} |", "|---" * (2 + len(METHODS)) + "|"]
    for name, found in [*sorted(groups.items(), key=lambda item: -len(item[1])), ("all", list(outcomes))]:
        shares = " | ".join(_share([one.told_apart(method) for one in found]) for method in METHODS)
        lines.append(f"| {name} | {len(found)} | {shares} |")
    return "\n".join(lines)


def sides(outcomes: Sequence[Outcome]) -> str:
    """The share of claims and of negations taken as supported, and of pairs in the right order."""
    lines = ["| taken as supported | rules | reader | both |", "|---|---|---|---|"]
    for language in ("en", "de"):
        own = [one for one in outcomes if one.pair.language == language]
        for side, name in enumerate(("claims", "negations")):
            shares = " | ".join(_share([one.supported(method)[side] for one in own]) for method in METHODS)
            lines.append(f"| {name}, {language} | {shares} |")
        higher = [[getattr(one.claim, method) > getattr(one.negation, method) for one in own] for method in METHODS]
        lines.append(f"| claim scored higher than its negation, {language} | {' | '.join(map(_share, higher))} |")
    return "\n".join(lines)


def _share(found: Sequence[bool]) -> str:
    return f"{sum(found) / len(found):.3f}"


def show_wrong(outcomes: Sequence[Outcome], method: str) -> None:
    """Print the pairs that a method does not tell apart."""
    for one in outcomes:
        if not one.told_apart(method):
            claim, negation = getattr(one.claim, method), getattr(one.negation, method)
            print(
                f"{one.pair.form}: {one.pair.passage}\n  {claim:.2f} {one.pair.claim}\n  {negation:.2f} {one.pair.negation}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", choices=METHODS, help="print the pairs that this method does not tell apart")
    arguments = parser.parse_args()
    outcomes = asyncio.run(judge(read_pairs()))
    if arguments.show:
        show_wrong(outcomes, arguments.show)
    print(table("language", outcomes, lambda one: one.pair.language), end="\n\n")
    print(table("form", outcomes, lambda one: f"{one.pair.form}, {one.pair.language}"), end="\n\n")
    print(sides(outcomes))


if __name__ == "__main__":
    main()
