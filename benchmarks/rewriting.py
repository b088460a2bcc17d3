"""Follow-up questions without a model: which questions are detected, and whether the rewritten ones find more.

    ./run bench rewriting --data DIR [--show]

DIR holds `rewriting/qa.jsonl.gz`: conversations with their last question and a standalone reference. There are no
passages, so the library consists of the references, one per document: the better a rewritten question, the higher its
own reference ranks among all references.
"""

import argparse
import asyncio
import gzip
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from pincite import AsyncPincite
from pincite.config.sources import load_settings
from pincite.core.query.question import Exchange, Question
from pincite.evaluate.temporary_library import Corpus, temporary_library
from pincite.evaluate.variants import read_variants
from pincite.query.understand.followup import is_follow_up
from pincite.query.understand.rewrite import resolve_follow_ups
from pincite.query.understand.standalone.coreference import make_standalone, place_beside
from pincite.text.terms import terms

DEEP = 10
"""Places looked at; what stands lower counts as not found."""


@dataclass(frozen=True)
class Row:
    """A conversation's last question, what it means alone, and what was decided about it."""

    asked: str
    reference: str
    leans: bool
    taken: bool
    guess: str


def row_of(line: dict[str, object]) -> Row:
    """The reference leans on the conversation where it holds a word of meaning from it that the question lacks."""
    history, asked, reference = line["history"], str(line["last_turn"]), str(line["rewrite"])
    assert isinstance(history, list)
    conversation = resolve_follow_ups([Exchange(said, said, "") for said in history], 4000)
    before = {term for said in history for term in terms(said, "en")}
    leans = bool((set(terms(reference, "en")) - set(terms(asked, "en"))) & before)
    taken = is_follow_up(asked, conversation)
    guess = make_standalone(asked, conversation) or place_beside(asked, conversation) if taken else asked
    return Row(asked, reference, leans, taken, guess)


def decisions(rows: list[Row]) -> str:
    """How often pattern and reference agree."""
    table = Counter((row.leans, row.taken) for row in rows)
    right, fired = table[True, True] + table[False, False], table[True, True] + table[False, True]
    return (
        f"{right} of {len(rows)} decisions agree with the reference ({right / len(rows):.3f}); taken for a follow-up: {fired},"
        f" of these right {table[True, True] / fired:.3f}; found of those that lean on the conversation:"
        f" {table[True, True] / (table[True, True] + table[True, False]):.3f}"
    )


async def place(pincite: AsyncPincite, question: Question, name: str) -> int:
    """Where a document stands in the results, counted from 1."""
    result = await pincite.search(question)
    names = [hit.chunk.document_name for hit in result.hits]
    return names.index(name) + 1 if name in names else DEEP + 1


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the question sets")
    parser.add_argument("--show", action="store_true", help="print every question that was rewritten")
    arguments = parser.parse_args()
    with gzip.open(arguments.data / "rewriting" / "qa.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [row_of(json.loads(line)) for line in file]
    print(decisions(rows))
    names = {reference: str(n) for n, reference in enumerate(dict.fromkeys(row.reference for row in rows))}
    pool = Corpus("rewriting", {f"{name}.md": f"{text}\n" for text, name in names.items()}, "")
    [as_it_is] = read_variants([], load_settings(), {})
    async with temporary_library(pool, as_it_is, keep=None, report=lambda _progress: None) as (pincite, _):
        lines = {"asked": Counter[str](), "replaced": Counter[str](), "beside (default)": Counter[str]()}
        gains = dict.fromkeys(lines, 0.0)
        for row in rows:
            document = f"{names[row.reference]}.md"
            raw = await place(pincite, Question(row.asked, top_k=DEEP), document)
            places = {"asked": raw, "replaced": raw, "beside (default)": raw}
            if row.guess != row.asked:
                whole = Question(row.asked, top_k=DEEP, standalone=row.guess)
                places["replaced"] = await place(pincite, whole, document)
                beside = Question(row.asked, top_k=DEEP, standalone=row.guess, guessed=True)
                places["beside (default)"] = await place(pincite, beside, document)
                if arguments.show:
                    print(places, f"{row.asked!r} → {row.guess!r}; reference {row.reference!r}")
            for name, found in places.items():
                lines[name]["better" if found < raw else "worse" if found > raw else "equal"] += 1
                gains[name] += 1 / found if found <= DEEP else 0.0
    print("\n| searched for | better | equal | worse | mean reciprocal rank |\n|---|---|---|---|---|")
    for name, counts in lines.items():
        figures = f"{counts['better']} | {counts['equal']} | {counts['worse']} | {gains[name] / len(rows):.3f}"
        print(f"| {name} | {figures} |")


if __name__ == "__main__":
    asyncio.run(main())
