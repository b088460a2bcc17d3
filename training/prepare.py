"""Turn the raw sources into the compact text shards that `vocabulary.py` and `train.py` read.

    python training/prepare.py --data DATA --eval EVAL --out OUT

DATA holds `parallel-msdocs.jsonl.gz`, `parallel-other.jsonl.gz`, the unpacked `questions/` and `claims/`, and
optionally `ntrex/`; EVAL holds the evaluation sets, read only to keep their text out of the training data.
One process, a few minutes.

Shards are xz text. A line of `pairs-SOURCE.txt.xz` is `English<TAB>German`; an empty line ends a page, so the
lines between two empty ones can be joined to passages. A line of `english.txt.xz` is one English text.
"""

from __future__ import annotations

import argparse
import collections
import glob
import gzip
import json
import lzma
import os
import random
import re
import time
from pathlib import Path

GRAM, STRIDE = 12, 6
WORD = re.compile(r"\w+")
SPACES = re.compile(r"\s+")
# Sources whose licence a shipped model cannot carry (GPL parts).
LEFT_OUT = {"ddtp", "wesnoth"}


def tidy(text: str) -> str:
    return SPACES.sub(" ", text).strip()


class Contamination:
    """Whether a text shares a run of words with an evaluation set."""

    def __init__(self, folder: str) -> None:
        self.grams: set[int] = set()
        for name in ("scifact", "hotpotqa100", "musique100", "multihop-mix", "xquad-en-de"):
            for part in ("corpus", "queries"):
                for row in rows(os.path.join(folder, name, part + ".jsonl.gz")):
                    words = WORD.findall(row.get("text", "").lower())
                    for at in range(max(1, len(words) - GRAM + 1)):
                        self.grams.add(hash(tuple(words[at : at + GRAM])))

    def __contains__(self, text: str) -> bool:
        words = WORD.findall(text.lower())
        starts = range(0, max(1, len(words) - GRAM + 1), STRIDE)
        return any(hash(tuple(words[at : at + GRAM])) in self.grams for at in starts)


def rows(path: str):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def usable(english: str, german: str) -> bool:
    if not english or not german or english == german or len(english) > 1500 or len(german) > 1800:
        return False
    return 0.4 < len(german) / len(english) < 3.0 and sum(c.isalpha() for c in german) > 0.5 * len(german)


def parallel(folder: str) -> dict[str, list[tuple[str, str] | None]]:
    """Sentence pairs by source, in page order, None between pages."""
    found: dict[str, list] = collections.defaultdict(list)
    seen: set[tuple[str, int]] = set()

    def add(source: str, english: str, german: str) -> None:
        english, german = tidy(english), tidy(german)
        key = (source, hash((english, german)))
        if usable(english, german) and key not in seen:
            seen.add(key)
            found[source].append((english, german))

    page = None
    for row in rows(os.path.join(folder, "parallel-msdocs.jsonl.gz")):
        source = "msdocs" if row["ht"] else "msdocs-machine"
        if (source, row["page"]) != page:
            found[source].append(None)
            page = (source, row["page"])
        add(source, row["en"], row["de"])
    for row in rows(os.path.join(folder, "parallel-other.jsonl.gz")):
        if row["src"] not in LEFT_OUT:
            add(row["src"], row["en"], row["de"])
    for english, german in omosqa(os.path.join(folder, "questions", "omosqa")):
        if english is None:
            found["omosqa"].append(None)
        else:
            add("omosqa", english, german)
    path = os.path.join(folder, "ntrex")
    if os.path.isdir(path):
        texts = [
            Path(path, name).read_text(encoding="utf-8").split("\n")
            for name in ("newstest2019-src.eng.txt", "newstest2019-ref.deu.txt", "DOCUMENT_IDS.tsv")
        ]
        before = None
        for english, german, document in zip(*texts, strict=True):
            if document != before:
                found["ntrex"].append(None)
                before = document
            add("ntrex", english, german)
    return found


def omosqa(folder: str):
    """Questions, and the lines of pages whose two versions have as many lines; the test files stay unread."""
    for part in ("train", "dev"):
        languages = [{r["id"]: r for r in rows(os.path.join(folder, f"{part}_{code}.jsonl"))} for code in ("en", "de")]
        for key, row in languages[0].items():
            other = languages[1].get(key)
            if other is None:
                continue
            yield row["question"], other["question"]
            yield None, None
            lines, twins = row["context"].split("\n"), other["context"].split("\n")
            if len(lines) == len(twins):
                yield from zip(lines, twins, strict=True)
                yield None, None


def windows(text: str, low: int = 40, high: int = 200):
    """A long text in stretches of `low` to `high` words."""
    words = text.split()
    at = 0
    while at < len(words):
        size = random.randint(low, high)
        yield " ".join(words[at : at + size])
        at += size


def english_texts(folder: str):
    """(source, text) of English questions, claims and passages of varied subjects."""
    questions, claims = os.path.join(folder, "questions"), os.path.join(folder, "claims")
    for row in rows(f"{questions}/retrieval/medquad.jsonl"):
        yield "medquad", row["question"]
        for part in list(windows(row["answer"]))[:4]:
            yield "medquad", part
    for row in rows(f"{questions}/retrieval/stackexchange_small.jsonl"):
        for value in row.values():
            if isinstance(value, str) and len(value) > 20:
                for part in list(windows(value))[:3]:
                    yield "stackexchange", part
    for row in rows(f"{questions}/qa/fairytaleqa.jsonl"):
        yield "fairytaleqa", row["question"]
        yield "fairytaleqa", row["context"]
    for name in ("answerable", "unanswerable"):
        for row in rows(f"{questions}/qa/clapnq_dev_{name}.jsonl"):
            yield "clapnq", row["input"]
            for passage in row["passages"]:
                yield "clapnq", passage["title"] + " " + passage["text"]
    for row in rows(f"{questions}/qa/qed-dev.jsonl"):
        yield "qed", row["question_text"]
        yield "qed", row["title_text"] + " " + row["paragraph_text"]
    for name in ("200423_covidQA", "policyqa_dev", "policyqa_test"):
        for article in json.loads(Path(f"{questions}/qa/{name}.json").read_text(encoding="utf-8"))["data"]:
            for paragraph in article["paragraphs"]:
                for part in windows(paragraph["context"]):
                    yield name, part
                for question in paragraph["qas"]:
                    yield name, question["question"]
    with open(f"{questions}/qa/qamr_wiki-sentences.tsv", encoding="utf-8") as file:
        for line in file:
            yield "qamr", line.rstrip("\n").split("\t")[-1]
    # The AdversarialQA file and nqg_*-test rest on SQuAD articles, xquad.* is an evaluation set: all left out.
    for path in sorted(glob.glob(f"{questions}/ni/*.json")):
        if "aqa1.0" in path:
            continue
        for row in json.loads(Path(path).read_text(encoding="utf-8"))["Instances"]:
            text = re.sub(r"^(CONTEXT|Context|Passage|Paragraph|Question|Term): ?", "", row["input"])
            for part in list(windows(text, 80, 200))[:3]:
                yield "ni", part
            output = row["output"][0] if row["output"] else ""
            if output.endswith("?"):
                yield "ni", output
    for name in ("vitaminc_real/test", "vitaminc_synthetic/test", "fever_symmetric/test", "fever_symmetric/dev"):
        for row in rows(f"{claims}/{name}.jsonl"):
            yield "vitaminc", row["claim"]
            evidence = row.get("evidence") or row.get("evidence_sentence") or ""
            yield "vitaminc", (row.get("page", "").replace("_", " ") + " " + evidence) if evidence else ""
    for name in ("raw.input0", "raw.input1"):
        with open(f"{claims}/fever_dev.{name}", encoding="utf-8") as file:
            for line in file:
                yield "fever", line
    for name in ("dev", "test"):
        for row in rows(f"{claims}/fm2_{name}.jsonl"):
            for piece in row["gold_evidence"] + row["retrieved_evidence"]:
                yield "fm2", piece["text"]
            yield "fm2", row.get("text") or row.get("claim") or ""
        for row in rows(f"{claims}/wice_oracle_claim_{name}.jsonl"):
            yield "wice", row["claim"]
            for part in list(windows(" ".join(row["evidence"])))[:3]:
                yield "wice", part
    for row in rows(f"{claims}/ni_nli_pairs.jsonl"):
        yield "nli", row["premise"]
        yield "nli", row["hypothesis"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("data", "eval", "out"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    random.seed(1)
    began = time.time()
    contaminated = Contamination(options.eval)
    print(f"{time.time() - began:.0f} s: {len(contaminated.grams)} runs of evaluation text")
    pairs = parallel(options.data)
    for source in ("omosqa", "ntrex", "tatoeba", "tatoeba-pivot"):
        pairs[source] = [
            row for row in pairs[source] if row is None or not (row[0] in contaminated or row[1] in contaminated)
        ]
    print(
        f"{time.time() - began:.0f} s:", {source: sum(r is not None for r in found) for source, found in pairs.items()}
    )
    for source, found in pairs.items():
        with lzma.open(os.path.join(options.out, f"pairs-{source}.txt.xz"), "wt", encoding="utf-8", preset=1) as file:
            for row in found:
                file.write("\n" if row is None else f"{row[0]}\t{row[1]}\n")
    print(f"{time.time() - began:.0f} s: pairs written")
    seen: set[int] = set()
    counts: collections.Counter = collections.Counter()
    with lzma.open(os.path.join(options.out, "english.txt.xz"), "wt", encoding="utf-8", preset=1) as file:
        for source, text in english_texts(options.data):
            text = tidy(text)[:2000]
            if len(text) < 12 or hash(text) in seen:
                continue
            seen.add(hash(text))
            if text in contaminated:
                counts["left out: evaluation text"] += 1
                continue
            counts[source] += 1
            file.write(text + "\n")
    print(f"{time.time() - began:.0f} s:", dict(counts))
    print(f"{time.time() - began:.0f} s: done")


if __name__ == "__main__":
    main()
