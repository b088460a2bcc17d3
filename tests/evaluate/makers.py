"""A small question set on disk, and comparisons as a run would make them."""

import gzip
import json
from pathlib import Path

from pincite.evaluate.compare import Comparison, Trial

CORPUS = {
    "cat": ("The cat", "Parallax the cat sleeps on the warm server and is fed at half past six."),
    "key": ("Keys", "The key to the generator room hangs behind the blue cup in the kitchen."),
    "tank": ("", "Diesel is ordered when the tank is down to forty percent."),
}
QUERIES = {"q1": "When is the cat fed?", "q2": "Where is the generator key?", "q3": "When is diesel ordered?"}
QRELS = {"q1": {"cat": 1}, "q2": {"key": 2, "tank": 0}, "q3": {"tank": 1}}


def write_set(folder: Path, *, packed: bool = False, split: str = "") -> Path:
    """The set in BEIR layout, plain or gzipped."""
    folder.mkdir(parents=True, exist_ok=True)
    suffix = f".{split}" if split else ""
    corpus = [{"_id": key, "title": title, "text": text} for key, (title, text) in CORPUS.items()]
    queries = [{"_id": key, "text": text} for key, text in QUERIES.items()] + [{"_id": "unjudged", "text": "x"}]
    lines = ["query-id\tcorpus-id\tscore"]
    lines += [f"{query}\t{document}\t{grade}" for query, row in QRELS.items() for document, grade in row.items()]
    for name, rows in (("corpus", corpus), (f"queries{suffix}", queries)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        if packed:
            (folder / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode()))
        else:
            (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (folder / f"qrels{suffix}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


ANSWER_ROWS: tuple[dict[str, object], ...] = (
    {"id": "a1", "q": "When is the cat fed?", "kind": "when", "lang": "en", "gold": [["half past six"]],
     "sources": ["cat.md"]},
    {"id": "a2", "q": "Where is the key to the generator room?", "kind": "where", "lang": "en",
     "gold": [["blue cup"], ["red cup"]], "sources": ["key.md"]},
    {"id": "a3", "q": "What is the wifi password?", "kind": "unanswerable", "lang": "en", "expect": "refuse"},
    {"id": "a4", "q": "And where does it sleep?", "kind": "follow-up", "lang": "en", "gold": [["server"]],
     "sources": ["cat.md"], "turns": ["When is Parallax the cat fed?"]},
    {"id": "a5", "q": "Who may repair the espresso machine of the dome?", "kind": "who", "lang": "en",
     "gold": [["Bea"]], "sources": ["tank.md"]},
)  # fmt: skip
"""Questions with expected answers: right, partly, a refusal, a follow-up question, and one without an answer."""


def write_answer_set(folder: Path) -> Path:
    """The documents with questions and expected answers."""
    (folder / "docs").mkdir(parents=True)
    for key, (title, text) in CORPUS.items():
        (folder / "docs" / f"{key}.md").write_text(f"# {title or key}\n\n{text}\n", encoding="utf-8")
    write_questions(folder / "questions.jsonl")
    return folder


def write_questions(path: Path) -> Path:
    """The questions with expected answers."""
    path.write_text("".join(json.dumps(row) + "\n" for row in ANSWER_ROWS), encoding="utf-8")
    return path


def comparison() -> Comparison:
    """Three configurations: the first, a better one, and one that differs by chance."""
    first = tuple(0.5 + 0.004 * (number % 50) for number in range(100))
    better = tuple(value + 0.05 for value in first)
    chance = tuple(value + (0.02 if number % 2 else -0.02) for number, value in enumerate(first))
    times = tuple(10.0 + number % 7 for number in range(100))
    trials = [
        Trial(name, {"nDCG@10": scores, "recall@10": scores}, times, notes)
        for name, scores, notes in (
            ("as it is", first, ()),
            ("rag.alpha=.3", better, ("a <note> & more",)),
            ("profile=vexora", chance, ()),
        )
    ]
    return Comparison("tiny", 3, 100, tuple(trials))
