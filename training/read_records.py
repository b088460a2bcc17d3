"""Turn hand-written records into examples for the reader.

    python training/read_records.py training/records/records.jsonl.gz --tokenizer TOKENIZER.json --out OUT [--times 3] [--short] [--rows rows.jsonl.gz]

A record is a short document with its questions, unanswerable questions, yes/no questions and claims in English and
German (`training/records/README.md`). A twelfth of the records is held out. Each example is made `--times` times, in
different surroundings: the text alone, under its title, beside another text. Where a text has sections, half of its
questions are asked of one section under its headings, as pincite reads passages; one that does not answer makes an
unanswerable example. `--short` is for a training on a CPU:
each example in one of the two languages only, and half of what has a deciding sentence with the sentences round it alone.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import sys
import zlib
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from prepare import rows
from read_prepare import QUESTION_ROOM, ROOM, pack, sentences, window

LANGUAGES = ("en", "de")
SUPPORTED, CONTRADICTED, NOT_STATED = range(3)


def is_held(record: dict) -> bool:
    """Whether a record is kept for evaluation."""
    return zlib.crc32(record["title"].encode()) % 12 == 0


def place(text: str, answer: str, question: str) -> tuple[int, int]:
    """Where the answer stands; of several places, the one whose sentence shares most words with the question."""
    whole = re.compile(rf"(?<!\w){re.escape(answer)}(?!\w)")
    found = [match.span() for match in whole.finditer(text)] or [(text.index(answer), text.index(answer) + len(answer))]
    asked = set(re.findall(r"\w{4,}", question.lower()))

    def shared(span: tuple[int, int]) -> int:
        near = next(text[a:b] for a, b in sentences(text) if a <= span[0] < b)
        return len(asked & set(re.findall(r"\w{4,}", near.lower())))

    return max(found, key=shared)


HEADING = re.compile(r"^#{1,4} +(.+)$", re.MULTILINE)


def sections(text: str) -> list[tuple[str, int, int]]:
    """Heading, start and end of each section of a text that has at least two; what precedes the first heading has none."""
    marks = list(HEADING.finditer(text))
    if not marks:
        return []
    starts = [(one[1].strip(), one.end() + 1) for one in marks]
    ends = [*(one.start() for one in marks[1:]), len(text)]
    found = [(head, start, end) for (head, start), end in zip(starts, ends, strict=True)]
    if marks[0].start():
        found.insert(0, ("", 0, marks[0].start()))
    return [one for one in found if text[one[1] : one[2]].strip()] if len(found) > 1 else []


class Maker:
    """Makes the examples of records; other records of the language give foreign text."""

    def __init__(self, records: list[dict], tokenizer: str, short: bool = False) -> None:
        from tokenizers import Tokenizer

        self.short = short
        self.pieces = Tokenizer.from_file(tokenizer)
        self.others = {code: [one["text"] for one in records if one["language"] == code] for code in LANGUAGES}
        self.made: list[dict] = []
        self.lengths: dict[str, int] = {}

    def fits(self, question: str, passage: str) -> bool:
        return min(QUESTION_ROOM, self.length(question)) + self.length(passage) + 3 <= ROOM

    def length(self, text: str) -> int:
        """The number of a text's pieces."""
        if text not in self.lengths:
            self.lengths[text] = len(self.pieces.encode(text, add_special_tokens=False).ids)
        return self.lengths[text]

    def surroundings(self, record: dict, text: str, question: str) -> tuple[str, int]:
        """The text as a passage may show it, and where it begins in it."""
        kind = random.random()
        before, after = "", ""
        if kind < 0.4:
            before = "" if text.startswith(record["title"]) else record["title"] + "\n"
        elif kind < 0.7:
            other = random.choice(self.others[record["language"]])
            parts = [other[a:b] for a, b in sentences(other)]
            first = random.randrange(len(parts))
            foreign = "".join(parts[first : first + random.randint(1, 4)]).strip()
            before, after = (foreign + "\n", "") if random.random() < 0.5 else ("", "\n" + foreign)
        passage = before + text + after
        return (passage, len(before)) if self.fits(question, passage) else (text, 0)

    def section(self, record: dict, span: tuple[int, int], holds: bool) -> tuple[str, int] | None:
        """A section under its headings that holds the span, or another one; and where its text begins in the record's."""
        rest = [one for one in sections(record["text"]) if (one[1] <= span[0] and span[1] <= one[2]) is holds]
        if not rest:
            return None
        head, start, end = random.choice(rest)
        above = "".join(line + "\n" for line in (record["title"], head) if line) if random.random() < 0.85 else ""
        return above + record["text"][start:end].rstrip(), start - len(above)

    def codes(self, record: dict, same: float = 0.65) -> tuple[str, ...]:
        """The languages to ask in."""
        if not self.short:
            return LANGUAGES
        other = next(code for code in LANGUAGES if code != record["language"])
        return (record["language"] if random.random() < same else other,)

    def near(self, text: str, evidence: str) -> str:
        """The text, or in half of the short examples the sentences round the evidence."""
        if not (self.short and evidence and random.random() < 0.5):
            return text
        at = text.index(evidence)
        cut = window(text, at, at + len(evidence))
        return cut[0] if cut and evidence in cut[0] else text

    def add(self, task: str, record: dict, code: str, question: str, span=None, text: str = "", **labels: int) -> None:
        text = text or record["text"]
        if span and not self.fits(question, text):
            cut = window(text, *span)
            if cut is None:
                return
            text, *span = cut
        elif not self.fits(question, text):
            return
        passage, begin = self.surroundings(record, text, question)
        if task != "claim" and random.random() < 0.25:
            question = question.rstrip("?") if random.random() < 0.5 else question.lower()
        row = {"task": task, "source": "records", "held": record["held"], "q": question, "p": passage}
        row |= {"span": (span[0] + begin, span[1] + begin) if span else None}
        row |= {"language": "en" if code == record["language"] == "en" else "de"}
        self.made.append(row | {"answerable": -1, "polarity": -1, "claim": -1} | labels)

    def take(self, record: dict) -> None:
        """Every example of a record, once."""
        text = record["text"]
        for item in record["questions"]:
            span = place(text, item["answer"], item[record["language"]])
            rest = "".join(text[a:b] for a, b in sentences(text) if b <= span[0] or a >= span[1]).strip()
            for code in self.codes(record):
                near = self.section(record, span, holds=True) if random.random() < 0.5 else None
                if near:
                    moved = (span[0] - near[1], span[1] - near[1])
                    self.add("span", record, code, item[code], moved, near[0], answerable=1, polarity=2)
                else:
                    self.add("span", record, code, item[code], span, answerable=1, polarity=2)
                far = self.section(record, span, holds=False) if random.random() < 0.35 else None
                if far and item["answer"] not in far[0] and len(far[0]) > 80:
                    self.add("span", record, code, item[code], text=far[0], answerable=0, polarity=2)
                if item["answer"] not in rest and len(rest) > 80 and random.random() < 0.35:
                    self.add("span", record, code, item[code], text=rest, answerable=0, polarity=2)
        for item in record["unanswerable"]:
            for code in self.codes(record):
                self.add("span", record, code, item[code], answerable=0, polarity=2)
        for item in record["yesno"]:
            passage = self.near(text, item["evidence"])
            at = passage.index(item["evidence"])
            for code in self.codes(record):
                polarity = int(item["answer"] == "no")
                span = (at, at + len(item["evidence"]))
                self.add("yesno", record, code, item[code], span, passage, answerable=1, polarity=polarity)
        for item in record["claims"]:
            passage = self.near(text, item.get("evidence", ""))
            for code in self.codes(record):
                self.add("claim", record, code, item[f"true_{code}"], text=passage, claim=SUPPORTED)
                self.add("claim", record, code, item[f"false_{code}"], text=passage, claim=CONTRADICTED)
        for item in record["not_stated"]:
            for code in self.codes(record):
                self.add("claim", record, code, item[code], claim=NOT_STATED)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="+")
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--rows", default="", help="also write the examples as JSON lines, for read_teacher.py")
    options = parser.parse_args()
    random.seed(7)
    records = [row for path in options.records for row in rows(path)]
    for record in records:
        record["held"] = is_held(record)
    maker = Maker(records, options.tokenizer, options.short)
    for turn in range(options.times):
        for record in records:
            if not (record["held"] and turn):
                maker.take(record)
    Path(options.out).mkdir(parents=True, exist_ok=True)
    for name, held in (("train", False), ("valid", True)):
        chosen = [row for row in maker.made if row["held"] is held]
        if chosen:
            kept = pack(chosen, options.tokenizer, os.path.join(options.out, f"{name}-records.npz"))
            print(f"{name}: {len(kept)} examples of {sum(one['held'] is held for one in records)} records")
            if options.rows:
                path = os.path.join(options.out, f"{name}-{options.rows}")
                with gzip.open(path, "wt", encoding="utf-8", compresslevel=5) as file:
                    file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in chosen)


if __name__ == "__main__":
    main()
