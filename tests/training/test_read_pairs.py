"""Pairs of a question or claim and a passage that a language model writes and judges."""

import gzip
import json
import random
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

from pincite.models.shipped import shipped_model
from training.prepare import rows
from training.read_pairs import near, pack_judged, writing_rows, written_items, written_pairs, written_text

TOKENIZER = str(shipped_model("pincite-embed").file("tokenizer.json"))
TEXT = "The pool opens at 9 on Sunday. Dogs stay outside."


def record(title: str, text: str, question: str) -> dict[str, object]:
    return {
        "language": "en",
        "title": title,
        "text": text,
        "questions": [{"en": question, "de": "Wann öffnet das Bad am Sonntag?", "answer": "9"}],
        "unanswerable": [{"en": "What does the pool cost?", "de": "Was kostet das Bad?"}],
        "yesno": [{"en": "May dogs enter the pool?", "de": "Dürfen Hunde ins Bad?", "answer": "no"}],
        "claims": [
            {"true_en": "Dogs wait.", "false_en": "Dogs swim.", "true_de": "Hunde warten.", "false_de": "Hunde baden."}
        ],
    }


@pytest.fixture(autouse=True)
def fixed() -> None:
    random.seed(5)


def test_what_is_taught_to_be_written_is_read_back() -> None:
    one = record("Pool", TEXT, "When does the pool open on Sunday?")
    expected = {
        "claims": [("claim", "Dogs wait.", ""), ("claim", "Dogs swim.", "")],
        "questions": [("span", "When does the pool open on Sunday?", "9")],
        "unanswerable": [("span", "What does the pool cost?", "")],
        "yesno": [("yesno", "May dogs enter the pool?", "no")],
    }
    for kind, items in expected.items():
        written = written_text(kind, one[kind], "en")  # type: ignore[arg-type]
        assert written_items({"kind": kind, "written": written}) == items
    assert len(writing_rows([one])) == 8  # four kinds in two languages
    assert {row["prompt"].rpartition("Write ")[2] for row in writing_rows([one])} >= {
        "true and false statements in English:\n",
        "questions to be answered with yes or no in German:\n",
    }


def test_unfinished_and_foreign_lines_are_left_out() -> None:
    assert written_items({"kind": "claims", "written": "+ \nDogs wait outside.\n- Dogs swim.\n- Dogs swim.\n"}) == [
        ("claim", "Dogs swim.", "")
    ]
    assert written_items({"kind": "questions", "written": "Who?\nWhen does it open? = 9\n"}) == [
        ("span", "When does it open?", "9")
    ]


def test_an_answer_that_stands_in_the_passage_is_its_span() -> None:
    item = {"text": TEXT, "language": "en", "code": "de", "kind": "questions"}
    written = "Wann öffnet das Bad? = at 9\nWer badet hier? = niemand\n"
    first, second = written_pairs([item | {"written": written}])
    assert (TEXT[slice(*first["span"])], second["span"]) == ("at 9", None)
    assert {first["language"], second["language"]} == {"de"}
    assert first["q"].lower().rstrip("?") == "wann öffnet das bad"


def test_near_passages_are_of_other_records(tmp_path: Path) -> None:
    source, out = tmp_path / "records.jsonl.gz", tmp_path / "near.jsonl.gz"
    first = record("Pool", TEXT, "When does the pool open on Sunday?")
    other = "The pool of the hotel is closed on Sunday, and dogs are welcome in its garden all year."
    second = record("Hotel", other, "When is the hotel pool closed?")
    with gzip.open(source, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(one) + "\n" for one in (first, second))
    near(Namespace(records=[str(source)], out=str(out)))
    made = list(rows(str(out)))
    assert made
    for pair in made:
        assert pair["span"] is None
        if pair["q"].lower().startswith("when does"):
            assert other in pair["p"]


def test_judged_pairs_become_examples_with_what_was_said_of_them(tmp_path: Path) -> None:
    span = (TEXT.index("9"), TEXT.index("9") + 1)
    pair = {"task": "span", "q": "When does it open?", "p": TEXT, "span": span, "language": "en"}
    sure, unsure = [4.0, 0, 0, 3, 0, 0, 0], [-2.0, 0, 0, 3, 0, 0, 0]
    with gzip.open(tmp_path / "judged-00.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(pair | {"taught": taught}) + "\n" for taught in (sure, unsure))
    pack_judged(Namespace(judged=str(tmp_path), tokenizer=TOKENIZER, out=str(tmp_path / "out"), processes=1))
    packed = np.load(tmp_path / "out" / "train-judged-00.npz")
    assert packed["taught"].tolist() == [sure, unsure]
    assert (packed["start"] >= 0).tolist() == [True, False]
    assert set(packed["answerable"]) == {-1}
