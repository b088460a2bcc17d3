"""Question sets with expected answers: JSON lines with `q`, `gold`, `forbidden`, `expect`, `sources` and more."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from pincite.config.messages import did_you_mean
from pincite.core.evaluations import AnswerQuestion, Expectation
from pincite.errors import Invalid, NotFound
from pincite.evaluate.questions.datasets import read_rows

QUESTIONS_FILE = "questions.jsonl"
DOCUMENT_FOLDERS = ("docs", "documents")
"""Names of the folder with the documents of a set, beside its questions."""
FIELDS = frozenset(
    {"id", "q", "kind", "lang", "expect", "gold", "forbidden", "sources", "all_sources", "turns", "note"}
)
"""Fields of a question; `note` is a remark for readers and is not stored."""
MAX_STRINGS = 100
"""Strings of one field at most."""
MAX_CHARS = 2000
"""Characters of one string at most."""


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """Questions with expected answers, and the files that they are about."""

    name: str
    files: Mapping[str, Path]
    questions: tuple[AnswerQuestion, ...]


def is_answer_set(folder: Path) -> bool:
    """Whether a folder has questions with expected answers and a folder of documents."""
    return (folder / QUESTIONS_FILE).is_file() and _documents_of(folder) is not None


def load_answer_set(folder: Path) -> AnswerSet:
    """Load the questions of a folder and find its documents."""
    documents = _documents_of(folder)
    if documents is None:
        raise NotFound(f"there is no folder {' or '.join(DOCUMENT_FOLDERS)} in {folder}")
    files = {path.relative_to(documents).as_posix(): path for path in sorted(documents.rglob("*")) if path.is_file()}
    if not files:
        raise Invalid(f"there is no file in {documents}")
    return AnswerSet(folder.resolve().name, files, load_questions(folder / QUESTIONS_FILE))


def load_questions(path: Path) -> tuple[AnswerQuestion, ...]:
    """Load a file with one question per line."""
    if not path.is_file():
        raise NotFound(f"there is no file {path}; give a file with one question per line (docs/evaluating.md)")
    return parse_questions(read_rows(path))


def parse_questions(rows: Iterable[Mapping[str, Any]]) -> tuple[AnswerQuestion, ...]:
    """Check and convert questions; an error names the first wrong one."""
    found = tuple(_parse(number, row) for number, row in enumerate(rows, start=1))
    if not found:
        raise Invalid("the set has no questions")
    seen: set[str] = set()
    for question in found:
        if question.id in seen:
            raise Invalid(f"two questions have the id '{question.id}'; give each its own")
        seen.add(question.id)
    return found


def _documents_of(folder: Path) -> Path | None:
    return next((folder / name for name in DOCUMENT_FOLDERS if (folder / name).is_dir()), None)


def _parse(number: int, row: Mapping[str, Any]) -> AnswerQuestion:
    where = f"question {number}"
    for name in row:
        if name not in FIELDS:
            raise Invalid(f"{where}: there is no field '{str(name)[:100]}'{did_you_mean(str(name), FIELDS)}")
    expect: Any = row.get("expect") or "answer"
    if expect not in get_args(Expectation):
        raise Invalid(
            f"{where}: 'expect' must be one of {', '.join(get_args(Expectation))} (was '{str(expect)[:100]}')"
        )
    groups = row.get("gold") or []
    if not isinstance(groups, list) or len(groups) > MAX_STRINGS:
        raise Invalid(f"{where}: 'gold' must be a list of groups, each a list of alternative strings")
    gold = tuple(tuple(_strings({"gold": group}, "gold", where)) for group in groups)
    sources = tuple(_strings(row, "sources", where))
    question = AnswerQuestion(
        _string(row.get("id", number), "id", where),
        _string(row.get("q"), "q", where),
        _string(row.get("kind") or "", "kind", where, empty=True),
        _string(row.get("lang") or "", "lang", where, empty=True),
        expect,
        gold,
        tuple(_strings(row, "forbidden", where)),
        sources,
        row.get("all_sources") is True,
        tuple(_strings(row, "turns", where)),
    )
    if expect != "refuse" and not all(gold):
        raise Invalid(f"{where}: a group of 'gold' is empty; give at least one alternative")
    if expect != "refuse" and not gold:
        raise Invalid(f'{where}: \'gold\' is missing; give the strings of the answer, or "expect": "refuse"')
    if expect == "conflict" and len(sources) < 2:
        raise Invalid(f"{where}: a conflict needs two 'sources'")
    return question


def _strings(row: Mapping[str, Any], name: str, where: str) -> Iterator[str]:
    values = row.get(name) or []
    if not isinstance(values, list) or len(values) > MAX_STRINGS:
        raise Invalid(f"{where}: '{name}' must be a list of at most {MAX_STRINGS} strings")
    for value in values:
        yield _string(value, name, where)


def _string(value: Any, name: str, where: str, *, empty: bool = False) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Invalid(f"{where}: '{name}' must be a text")
    text = " ".join(str(value).split())
    if len(text) > MAX_CHARS or "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise Invalid(f"{where}: '{name}' is too long or contains a character that cannot be stored")
    if not text and not empty:
        raise Invalid(f"{where}: '{name}' is empty")
    return text
