"""Question sets in BEIR layout: `corpus.jsonl`, `queries.jsonl` and `qrels.tsv` in a folder, plain or gzipped."""

import csv
import gzip
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from pincite.errors import Invalid, NotFound


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Documents by id (title, text), questions by id, and relevance grades by question and document."""

    name: str
    corpus: Mapping[str, tuple[str, str]]
    queries: Mapping[str, str]
    qrels: Mapping[str, Mapping[str, int]]

    def fingerprint(self) -> str:
        """A hash of the corpus, independent of the questions."""
        digest = hashlib.sha256()
        for key, (title, text) in self.corpus.items():
            digest.update(json.dumps([key, title, text]).encode())
        return digest.hexdigest()


def load_set(folder: Path, split: str = "") -> QuestionSet:
    """Load a set with the questions that `qrels[.split].tsv` judges."""
    if not folder.is_dir():
        raise NotFound(f"there is no folder {folder}; choose one with corpus.jsonl, queries.jsonl and qrels.tsv")
    suffix = f".{split}" if split else ""
    qrels = _qrels(folder, suffix)
    corpus = {_text(row, "_id"): (str(row.get("title") or ""), _text(row, "text")) for row in rows(folder, "corpus")}
    asked = {_text(row, "_id"): _text(row, "text") for row in rows(folder, f"queries{suffix}")}
    queries = {key: text for key, text in asked.items() if any(grade > 0 for grade in qrels.get(key, {}).values())}
    if not corpus or not queries:
        raise Invalid(f"{folder} has {len(corpus)} documents and {len(queries)} judged questions; it needs both")
    return QuestionSet(folder.resolve().name + suffix, corpus, queries, {key: qrels[key] for key in queries})


def rows(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of `name.jsonl[.gz]`, one per line; blank lines are skipped."""
    yield from read_rows(_find(folder, f"{name}.jsonl"))


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file with one JSON object per line; blank lines are skipped."""
    with _open(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                raise Invalid(f"line {number} of {path} is not JSON: {error}") from None
            if not isinstance(row, dict):
                raise Invalid(f"line {number} of {path} is not a JSON object")
            yield row


def _qrels(folder: Path, suffix: str) -> dict[str, dict[str, int]]:
    """Read the judgements by question; BEIR's own layout has a folder `qrels` with one file per split."""
    path = _find(folder, f"qrels{suffix}.tsv", f"qrels/{suffix.removeprefix('.') or 'test'}.tsv")
    found: dict[str, dict[str, int]] = {}
    with _open(path) as file:
        for number, row in enumerate(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE), start=1):
            if not row or (number == 1 and not row[-1].lstrip("-").isdecimal()):  # the header line
                continue
            if len(row) != 3 or not row[2].lstrip("-").isdecimal():
                raise Invalid(
                    f"line {number} of {path} must have a question, a document and an integer, separated by tabs"
                )
            found.setdefault(row[0], {})[row[1]] = int(row[2])
    return found


def _find(folder: Path, *names: str) -> Path:
    for name in names:
        for path in (folder / name, folder / f"{name}.gz"):
            if path.is_file():
                return path
    raise NotFound(f"there is no {names[0]} (or {names[0]}.gz) in {folder}")


def _open(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise Invalid(f"a line of the set has no text in '{name}': {str(row)[:80]}")
    return str(value)
