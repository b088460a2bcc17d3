"""Yes/no questions in pairs: of one fact, a question whose answer is yes and one whose answer is no.

    ./run bench yes_no [--keep DIR] [--set KEY=VALUE ...] [--show]

`benchmarks/yes_no.jsonl` has 200 pairs in English and German, written by hand and none from a text that a shipped model was
trained on. Each passage is a file of one library. An answer is right if it quotes the sentence that decides and does not
begin with the wrong word; it is inverted if it begins with the wrong word.
"""

import argparse
import asyncio
import json
import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pincite import AsyncPincite
from pincite.core.query.answer import Answer
from pincite.core.query.question import Question
from pincite.ingest.accept.collect import collect
from pincite.text.terms import terms

FILE = Path(__file__).parent / "yes_no.jsonl"
MIN_SHARED = 0.8
"""Share of the deciding sentence's terms that the answer has, so that it quotes it."""
WORDS = {"yes": ("yes", "ja"), "no": ("no", "nein")}
VERDICTS = ("right", "refused", "other", "inverted")


@dataclass(frozen=True, slots=True)
class Pair:
    """A passage, the sentence that decides, and the two questions."""

    language: str
    title: str
    text: str
    evidence: str
    yes: str
    no: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer and its verdict; `led` is whether it begins with yes or no."""

    pair: Pair
    wanted: str
    answer: str
    verdict: str
    led: bool


def read_pairs(file: Path = FILE) -> list[Pair]:
    """All pairs."""
    return [Pair(**json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]


def judge(pair: Pair, wanted: str, answer: Answer) -> Outcome:
    """The verdict on the answer to one question of a pair."""
    first = re.match(r"(\w+)[.,!:;]", answer.text.lower())
    led = next((word for word, forms in WORDS.items() if first and first[1] in forms), "")
    decisive = set(terms(pair.evidence, pair.language))
    shared = len(decisive & set(terms(answer.text, pair.language))) / max(1, len(decisive))
    cited = any(source.cited for source in answer.sources)
    if led and led != wanted:
        verdict = "inverted"
    elif not cited:
        verdict = "refused"
    else:
        verdict = "right" if shared >= MIN_SHARED else "other"
    return Outcome(pair, wanted, answer.text, verdict, bool(led))


async def ask_all(pairs: Sequence[Pair], folder: Path, settings: dict[str, str]) -> list[Outcome]:
    """Index the passages and ask both questions of each pair."""
    found = []
    async with AsyncPincite(settings={"data": folder, "cache.enabled": False, **settings}) as pincite:
        if not await pincite.documents():
            with tempfile.TemporaryDirectory() as files:
                for number, pair in enumerate(pairs):
                    Path(files, f"{number:03}.md").write_text(f"# {pair.title}\n\n{pair.text}\n", encoding="utf-8")
                await pincite.add_all(collect([Path(files)]))
        for pair in pairs:
            for wanted in WORDS:
                answer = await pincite.questions.ask(Question(getattr(pair, wanted)))
                found.append(judge(pair, wanted, answer))
    return found


def table(outcomes: Sequence[Outcome]) -> str:
    """The share of each verdict by language and by the right answer, and of answers that begin with the word."""
    lines = ["| | questions | right | refused | other | inverted | begins with yes or no |", "|---" * 7 + "|"]
    groups = [(f"{code}, {word}", [one for one in outcomes if (one.pair.language, one.wanted) == (code, word)])
              for code in ("en", "de") for word in WORDS]  # fmt: skip
    for name, some in [*groups, ("all", list(outcomes))]:
        counts = Counter(one.verdict for one in some)
        shares = " | ".join(f"{counts[verdict] / max(1, len(some)):.3f}" for verdict in VERDICTS)
        led = sum(one.led for one in some) / max(1, len(some))
        lines.append(f"| {name} | {len(some)} | {shares} | {led:.3f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, help="folder that keeps the index between runs")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting; repeatable")
    parser.add_argument("--show", action="store_true", help="print the answers that are not right")
    arguments = parser.parse_args()
    settings = dict(pair.split("=", 1) for pair in arguments.set)
    with tempfile.TemporaryDirectory() as scratch:
        outcomes = asyncio.run(ask_all(read_pairs(), arguments.keep or Path(scratch) / "library", settings))
    for one in outcomes:
        if arguments.show and one.verdict != "right":
            print(
                f"{one.verdict}: {getattr(one.pair, one.wanted)} ({one.wanted})\n  {one.pair.evidence}\n  → {one.answer}"
            )
    print(table(outcomes))


if __name__ == "__main__":
    main()
