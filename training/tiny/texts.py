"""The texts of the tiny models: facts of made-up towns in English and German, filled in from the tables beside this file.

A line of `facts.tsv` has the kind of its answer, the sentence and a question about it in both languages; `answers.tsv`
has the answers of each kind, `towns.txt` the towns. Everything is drawn with a fixed seed.
"""

from __future__ import annotations

import lzma
import random
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from read_prepare import ask, negate

FOLDER = Path(__file__).parent
HELD_OUT_TOWNS = 3
FACTS_OF_TOWN = 20
FACTS_OF_PASSAGE = 4


@dataclass(frozen=True)
class Fact:
    """A sentence, a question about it and its answer, each in English and German."""

    town: str
    sentence: tuple[str, str]
    question: tuple[str, str]
    answer: tuple[str, str]


def table(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


def facts(seed: int = 7) -> list[list[Fact]]:
    """The facts of each town."""
    draw = random.Random(seed)
    answers: dict[str, list[tuple[str, str]]] = {}
    for kind, english, german in table("answers.tsv"):
        answers.setdefault(kind, []).append((english, german))
    towns = []
    for (town,) in table("towns.txt"):
        made = []
        for kind, *texts in draw.sample(table("facts.tsv"), FACTS_OF_TOWN):
            answer = draw.choice(answers[kind])
            full = [
                text.replace("{town}", town).replace("{answer}", answer[number % 2])
                for number, text in enumerate(texts)
            ]
            made.append(Fact(town, (full[0], full[1]), (full[2], full[3]), answer))
        towns.append(made)
    return towns


def write_shards(towns: list[list[Fact]], folder: Path) -> int:
    """Write what `prepare.py` writes: pairs with an empty line between pages, and English texts of all lengths."""
    folder.mkdir(parents=True, exist_ok=True)
    pairs, alone = [], []
    for made in towns:
        pairs += [f"{one.sentence[0]}\t{one.sentence[1]}" for one in made]
        pairs += [f"{one.question[0]}\t{one.question[1]}" for one in made] + [""]
        alone += [text for one in made for text in (one.sentence[0], one.question[0])]
        alone += [" ".join(one.sentence[0] for one in made[at : at + 5]) for at in range(0, len(made), 5)]
        alone += [" ".join(one.sentence[0] for one in made)]
    for name, lines in (("pairs-tiny", pairs), ("english", alone)):
        with lzma.open(folder / f"{name}.txt.xz", "wt", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines)
    return sum(bool(line) for line in pairs)


def examples(towns: list[list[Fact]], seed: int = 7) -> list[dict]:
    """Questions, claims and yes/no questions with a passage, as `read_prepare.pack` takes them."""
    random.seed(seed)
    rows: list[dict] = []
    for number, made in enumerate(towns):
        held = number >= len(towns) - HELD_OUT_TOWNS
        for fact in made:
            for asked, read in ((0, 0), (1, 1), (0, 1), (1, 0)):
                rows += [row | {"held": held} for row in rows_of(fact, made, asked, read)]
    random.shuffle(rows)
    return rows


def rows_of(fact: Fact, made: list[Fact], asked: int, read: int) -> list[dict]:
    """Examples of a fact: asked or claimed in one language, read in another."""
    others = random.sample([one for one in made if one is not fact], FACTS_OF_PASSAGE - 1)
    kept = random.sample([fact, *others], FACTS_OF_PASSAGE)
    passage, without = (" ".join(one.sentence[read] for one in some) for some in (kept, others))
    start = passage.index(fact.sentence[read]) + fact.sentence[read].index(fact.answer[read])
    common = {"source": "tiny", "language": "de" if asked or read else "en", "span": None}
    common |= {"answerable": -1, "polarity": -1, "claim": -1}
    span = (start, start + len(fact.answer[read]))
    claim = fact.sentence[asked]
    turned = negate(claim, german=bool(asked))
    rows = [
        {"task": "span", "q": fact.question[asked], "p": passage, "span": span, "answerable": 1, "polarity": 2},
        {"task": "span", "q": fact.question[asked], "p": without, "answerable": 0, "polarity": 2},
        {"task": "claim", "q": claim, "p": passage, "claim": 0},
        {"task": "claim", "q": claim, "p": without, "claim": 2},
        {"task": "yesno", "q": ask(claim, german=bool(asked)), "p": passage, "answerable": 1, "polarity": 0},
    ]
    if turned:
        rows.append({"task": "claim", "q": turned, "p": passage, "claim": 1})
        yes_no = {"q": ask(turned, german=bool(asked)), "answerable": 1, "polarity": 1}
        rows.append({"task": "yesno", "p": passage} | yes_no)
    return [common | row for row in rows]
