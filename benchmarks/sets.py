"""Question sets in BEIR layout, read from a folder given on the command line."""

import csv
import gzip
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class QuestionSet:
    """Documents by id (title, text), questions by id, and which documents are relevant to which question."""

    name: str
    corpus: dict[str, tuple[str, str]]
    queries: dict[str, str]
    qrels: dict[str, dict[str, int]]


def load_set(folder: Path, split: str = "") -> QuestionSet:
    """Read `corpus.jsonl.gz`, `queries[.split].jsonl.gz` and `qrels[.split].tsv`."""
    suffix = f".{split}" if split else ""
    corpus = {row["_id"]: (row.get("title", ""), row["text"]) for row in _lines(folder / "corpus.jsonl.gz")}
    qrels: dict[str, dict[str, int]] = {}
    with open(folder / f"qrels{suffix}.tsv", encoding="utf-8") as file:
        for query, document, score in list(csv.reader(file, delimiter="\t"))[1:]:
            qrels.setdefault(query, {})[document] = int(score)
    queries = {row["_id"]: row["text"] for row in _lines(folder / f"queries{suffix}.jsonl.gz") if row["_id"] in qrels}
    return QuestionSet(folder.name + suffix, corpus, queries, qrels)


def _lines(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def ndcg(ranked: Sequence[str], relevant: Mapping[str, int], k: int = 10) -> float:
    """Normalised discounted cumulative gain of the first k."""
    gains = [relevant.get(document, 0) / math.log2(place + 2) for place, document in enumerate(ranked[:k])]
    ideal = sorted(relevant.values(), reverse=True)[:k]
    best = sum(gain / math.log2(place + 2) for place, gain in enumerate(ideal))
    return sum(gains) / best if best else 0.0


def recall(ranked: Sequence[str], relevant: Mapping[str, int], k: int) -> float:
    """Share of the relevant documents among the first k."""
    wanted = {document for document, score in relevant.items() if score > 0}
    return len(wanted & set(ranked[:k])) / len(wanted) if wanted else 0.0
