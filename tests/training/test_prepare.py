"""Preparing the texts of the embedder: what is kept, how it is cut, and what is left out as evaluation text."""

import gzip
import json
import random
from pathlib import Path

import pytest

from training.prepare import Contamination, rows, tidy, usable, windows

SETS = ("scifact", "hotpotqa100", "musique100", "multihop-mix", "xquad-en-de")
EVALUATED = "the river rises in the hills above the town and reaches the sea after ninety kilometres"


@pytest.fixture
def evaluation(tmp_path: Path) -> str:
    for name in SETS:
        (tmp_path / name).mkdir()
        for part, text in (("corpus", EVALUATED), ("queries", "Where does the river rise?")):
            with gzip.open(tmp_path / name / f"{part}.jsonl.gz", "wt", encoding="utf-8") as file:
                file.write(json.dumps({"_id": "1", "text": text}) + "\n\n")
    return str(tmp_path)


def test_white_space_is_one_space() -> None:
    assert tidy("  two\n\twords ") == "two words"


@pytest.mark.parametrize(
    ("english", "german", "kept"),
    [
        ("The pool is open.", "Das Bad ist offen.", True),
        ("The pool is open.", "The pool is open.", False),
        ("The pool is open.", "", False),
        ("The pool is open.", "Ja", False),
        ("Yes", "Das Bad ist am Sonntag geöffnet.", False),
        ("42 = 6 * 7 + x", "42 = 6 * 7 + x.", False),
    ],
)
def test_a_pair_is_kept_where_it_can_be_a_translation(english: str, german: str, kept: bool) -> None:
    assert usable(english, german) is kept


def test_windows_cover_a_long_text_in_order() -> None:
    random.seed(1)
    words = [f"w{number}" for number in range(500)]
    found = list(windows(" ".join(words)))
    assert " ".join(found).split() == words
    assert all(40 <= len(part.split()) <= 200 for part in found[:-1])


def test_a_text_with_a_run_of_evaluation_words_is_found(evaluation: str) -> None:
    contaminated = Contamination(evaluation)
    assert "Where does the river rise?" in contaminated
    assert f"{EVALUATED}, and so on." in contaminated
    assert "The river rises in the hills above the town." not in contaminated


def test_rows_are_read_packed_or_plain_without_empty_lines(evaluation: str, tmp_path: Path) -> None:
    (tmp_path / "plain.jsonl").write_text('{"a": 1}\n\n{"a": 2}\n', encoding="utf-8")
    assert [row["a"] for row in rows(str(tmp_path / "plain.jsonl"))] == [1, 2]
    assert [row["_id"] for row in rows(f"{evaluation}/scifact/corpus.jsonl.gz")] == ["1"]
