"""Pairs of a question or claim and a passage for the teacher of `read_teacher.py` to judge.

    python training/read_pairs.py passages --records training/records/*.jsonl.gz --shards SHARDS --out PASSAGES.jsonl.gz
    python training/read_pairs.py near --records training/records/*.jsonl.gz --out NEAR.jsonl.gz
    python training/read_pairs.py pack --judged OUT --tokenizer TOKENIZER.json --out JUDGED

`passages` draws passages of records and of German and English training texts, each with a kind of question or claim to
write about it. `near` pairs questions and claims of the records with passages of other records and sections that share
their words; none of these pairs has a label. `pack` makes examples of what the teacher wrote and judged.
"""

from __future__ import annotations

import argparse
import glob
import gzip
import json
import lzma
import os
import random
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from prepare import rows
from read_prepare import Neighbours, find_span, pack, sentences
from read_records import LANGUAGES, is_held, sections

KINDS = {
    "claims": "true and false statements",
    "questions": "questions with their answers",
    "unanswerable": "questions that the text does not answer",
    "yesno": "questions to be answered with yes or no",
}
SHARES = {"claims": 0.45, "questions": 0.25, "unanswerable": 0.2, "yesno": 0.1}
NAMES = {"en": "English", "de": "German"}
MOST = 3
"""Items written about a passage."""


def writing_prompt(passage: str, kind: str, code: str) -> str:
    return f"Text:\n{passage}\n\nWrite {KINDS[kind]} in {NAMES[code]}:\n"


def written_text(kind: str, items: list[dict], code: str) -> str:
    """The items of a record as the language model is taught to write them."""
    if kind == "claims":
        return "".join(f"+ {item[f'true_{code}']}\n- {item[f'false_{code}']}\n" for item in items)
    if kind == "unanswerable":
        return "".join(item[code] + "\n" for item in items)
    return "".join(f"{item[code]} = {item['answer']}\n" for item in items)


def written_items(item: dict) -> list[tuple[str, str, str]]:
    """Task, question or claim, and answer ("" where it has none) of what was written about a passage."""
    found = []
    for line in item["written"].split("\n"):
        line, answer = line.strip(), ""
        if item["kind"] == "claims":
            if line[:2] in ("+ ", "- "):
                found.append(("claim", line[2:], ""))
            continue
        if item["kind"] != "unanswerable":
            line, _, answer = line.partition(" = ")
        if len(line) > 5:
            found.append(("yesno" if item["kind"] == "yesno" else "span", line, answer.strip()))
    return [one for one in dict.fromkeys(found) if len(one[1]) < 240]


def training_records(paths: list[str]) -> list[dict]:
    return [row for path in paths for row in rows(path) if not is_held(row)]


def record_passages(record: dict) -> list[tuple[str, int, int]]:
    """The sections of a record under their headings, or the whole of it: text, and from where to where it stands."""
    found = []
    for head, start, end in sections(record["text"]) or [("", 0, len(record["text"]))]:
        above = "".join(line + "\n" for line in (record["title"], head) if line)
        found.append((above + record["text"][start:end].rstrip(), start, end))
    return found


def writing_rows(records: list[dict]) -> list[dict]:
    """What a language model learns to write: prompt and text, from the records."""
    made = []
    for record in records:
        for kind in KINDS:
            for code in LANGUAGES:
                items = list(record[kind])
                random.shuffle(items)
                if items:
                    prompt = writing_prompt(record["title"] + "\n" + record["text"], kind, code)
                    made.append({"prompt": prompt, "written": written_text(kind, items[:MOST], code)})
    return made


def read_pages(path: Path, side: int) -> list[str]:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        pages = file.read().split("\n\n")
    return [" ".join(line.partition("\t")[2 * side] for line in page.split("\n")) for page in pages]


def stretch_of(text: str) -> str:
    """Some sentences in a row."""
    parts = [text[a:b] for a, b in sentences(text)]
    first, found = random.randrange(max(1, len(parts) - 2)), ""
    while first < len(parts) and len(found) < 700:
        found += parts[first]
        first += 1
        if len(found) > 150 and random.random() < 0.25:
            break
    return found.strip()


def passages(options: argparse.Namespace) -> None:
    found: list[tuple[str, str]] = []
    for record in training_records(options.records):
        found += 2 * [(text, record["language"]) for text, _, _ in record_passages(record)[:3]]
    for name, count in (("omosqa", 5000), ("msdocs", 3000)):
        for side, code in ((1, "de"), (0, "en")):
            pages = [page for page in read_pages(Path(options.shards, f"pairs-{name}.txt.xz"), side) if len(page) > 200]
            chosen = random.sample(pages, min(len(pages), count // (1 if side else 4)))
            found += [(stretch_of(page), code) for page in chosen]
    with lzma.open(Path(options.shards, "english.txt.xz"), "rt", encoding="utf-8") as file:
        long = [text for line in file if 250 < len(text := line.strip()) < 3000]
    found += [(stretch_of(text), "en") for text in random.sample(long, 9000)]
    items = []
    for text, language in found:
        if 60 < len(text) < 1400:
            code = language if random.random() < 0.65 else next(code for code in LANGUAGES if code != language)
            kind = random.choices(list(SHARES), list(SHARES.values()))[0]
            items.append({"text": text, "language": language, "kind": kind, "code": code})
    random.shuffle(items)
    save(options.out, items)


def save(path: str, items: list[dict]) -> None:
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=5) as file:
        file.writelines(json.dumps(item, ensure_ascii=False) + "\n" for item in items)
    print(f"{path}: {len(items)}", flush=True)


def typed(question: str) -> str:
    """A question as people type it, now and then."""
    if random.random() < 0.75:
        return question
    return question.rstrip("?") if random.random() < 0.5 else question.lower()


def written_pairs(items: list[dict]) -> list[dict]:
    """A pair for each question and claim that was written about a passage."""
    made = []
    for item in items:
        language = "en" if item["language"] == item["code"] == "en" else "de"
        for task, asked, answer in written_items(item):
            span = find_span(item["text"], answer) if answer and task == "span" else None
            question = asked if task == "claim" else typed(asked)
            made.append({"task": task, "q": question, "p": item["text"], "span": span, "language": language})
    return made


def near(options: argparse.Namespace) -> None:
    made: list[dict] = []

    def add(task: str, question: str, passage: str, language: str) -> None:
        question = question if task == "claim" else typed(question)
        made.append({"task": task, "q": question, "p": passage, "span": None, "language": language})

    records = training_records(options.records)
    pool = [(record["title"], record["language"], text) for record in records for text, _, _ in record_passages(record)]
    of_record: dict[str, list[str]] = {}
    for title, _, text in pool:
        of_record.setdefault(title, []).append(text)
    found = {
        code: Neighbours(
            [(title, text) for title, language, text in pool if language == code and 60 < len(text) < 1500]
        )
        for code in LANGUAGES
    }
    for record in records:
        own = of_record[record["title"]]
        asked = [("span", item) for item in (*record["questions"], *record["unanswerable"])]
        asked += [("yesno", item) for item in record["yesno"]]
        for task, item in asked:
            for code in LANGUAGES:
                kind = random.random()
                if kind < 0.4:
                    other = found[code].find(item[code], record["title"], "\0", same=False)
                elif kind < 0.65 and len(own) > 1:
                    other = random.choice(own)
                else:
                    continue
                if other:
                    add(task, item[code], other, "en" if code == record["language"] == "en" else "de")
        for item in record["claims"]:
            for code in LANGUAGES:
                other = found[code].find(item[f"true_{code}"], record["title"], "\0", same=False)
                if other and random.random() < 0.12:
                    add("claim", item[f"{random.choice(('true', 'false'))}_{code}"], other, code)
    random.shuffle(made)
    save(options.out, made)


def packed(job: tuple[str, str, str]) -> int:
    source, tokenizer, out = job
    found = [row | {"source": "judged", "answerable": -1, "polarity": -1, "claim": -1} for row in rows(source)]
    for row in found:  # An answer is one only where the teacher says that the passage holds it.
        row["span"] = row["span"] if row["taught"][0] > 0.5 else None
    kept = pack(found, tokenizer, out)
    arrays = dict(np.load(out))
    arrays["taught"] = np.array([found[at]["taught"] for at in kept], np.float16)
    np.savez(out, **arrays)
    return len(kept)


def pack_judged(options: argparse.Namespace) -> None:
    os.makedirs(options.out, exist_ok=True)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    sources = sorted(glob.glob(os.path.join(options.judged, "judged-*.jsonl.gz")))
    jobs = [
        (source, options.tokenizer, os.path.join(options.out, f"train-judged-{number:02}.npz"))
        for number, source in enumerate(sources)
        if any(True for _ in rows(source))
    ]
    with ProcessPoolExecutor(options.processes) as pool:
        print(sum(pool.map(packed, jobs)), "examples judged")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("passages", "near", "pack"))
    parser.add_argument("--records", nargs="*", default=[])
    for name in ("shards", "out", "judged", "tokenizer"):
        parser.add_argument("--" + name, default="")
    parser.add_argument("--processes", type=int, default=12)
    options = parser.parse_args()
    random.seed(17)
    {"passages": passages, "near": near, "pack": pack_judged}[options.what](options)


if __name__ == "__main__":
    main()
