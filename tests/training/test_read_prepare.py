"""Examples for the reader: sentences, windows, negations, questions and the word pieces they become."""

import random
from pathlib import Path

import numpy as np
import pytest

from pincite.models.shipped import shipped_model
from training import read_prepare
from training.read_prepare import (
    Neighbours,
    ask,
    find_span,
    negate,
    pack,
    plain,
    question_source,
    renumber,
    sentences,
    window,
)


@pytest.fixture(autouse=True)
def fixed() -> None:
    random.seed(1)


def example(question: str, passage: str, **more: object) -> dict[str, object]:
    row = {"task": "span", "source": "a", "language": "en", "q": question, "p": passage, "span": None}
    return row | {"answerable": -1, "polarity": -1, "claim": -1} | more


def test_marks_of_a_treebank_become_plain_text() -> None:
    assert plain("He did n't go -LRB- yes -RRB- , she 's sure .") == "He didn't go (yes), she's sure."


def test_sentences_end_at_marks_and_lines() -> None:
    assert sentences("One is here. Two is there.\nThree") == [(0, 13), (13, 27), (27, 32)]
    assert sentences("It costs 3.50 euros, e.g. here.") == [(0, 31)]


def test_a_window_keeps_the_span_among_whole_sentences() -> None:
    parts = [f"Room {number} has {number + 3} chairs and a large window to the garden." for number in range(60)]
    text = " ".join(parts)
    start = text.index("33 chairs")
    for _ in range(20):
        found = window(text, start, start + 9)
        assert found is not None
        cut, first, last = found
        assert cut[first:last] == "33 chairs"
        assert cut.startswith("Room ")
        assert cut.endswith("garden.")
        assert len(parts[30]) <= len(cut) <= 950


@pytest.mark.parametrize(
    ("text", "german", "wanted"),
    [
        ("The pool can be rented.", False, {"The pool can not be rented."}),
        ("The pool is open.", False, {"The pool is not open.", "The pool is never open."}),
        ("The house has been sold.", False, {"The house has not been sold."}),
        ("Dogs are not allowed.", False, {"Dogs are allowed."}),
        ("Members do not pay.", False, {None}),
        ("Members pay nothing.", False, {None}),
        ("Das Bad ist geöffnet.", True, {"Das Bad ist nicht geöffnet."}),
        ("Das ist ein Verein.", True, {"Das ist kein Verein."}),
        ("Hunde sind nicht erlaubt.", True, {None, "Hunde sind erlaubt."}),
        ("Mitglieder zahlen nichts.", True, {None}),
    ],
)
def test_a_claim_is_turned_by_its_verb(text: str, german: bool, wanted: set[str | None]) -> None:
    assert {negate(text, german) for _ in range(40)} == wanted


def test_a_number_is_changed_and_a_year_stays_a_year() -> None:
    assert renumber("no number") is None
    for _ in range(30):
        found = renumber("It was built in 1931.")
        assert found is not None
        assert 1891 <= int(found[16:20]) <= 1961
        assert found != "It was built in 1931."
        assert renumber("It costs 4.50 euros.") != "It costs 4.50 euros."


def test_a_claim_becomes_a_question() -> None:
    asked = {ask("The pool is open.") for _ in range(60)}
    assert asked == {
        "Is the pool open?",
        "Is it true that the pool is open?",
        "Is it correct that the pool is open?",
        "the pool is open?",
    }
    assert "Ist das Bad offen?" in {ask("Das Bad ist offen.", german=True) for _ in range(20)}


def test_the_span_of_an_answer_is_found_whatever_its_case() -> None:
    assert find_span("Ask Anna Keller first.", " anna keller. ") == (4, 15)
    assert find_span("Ask Anna Keller first.", "Ben") is None
    assert find_span("Ask Anna Keller first.", "A") is None


def test_the_neighbour_shares_rare_words_and_lacks_the_answer() -> None:
    near = Neighbours([("a", "The pool opens at 9."), ("b", "The pool is closed."), ("c", "A bakery sells bread.")])
    assert near.find("When does the pool open?", "a", "at 9") == "The pool is closed."
    assert near.find("When does the pool open?", "b", "at 9", same=False) is None
    assert near.find("zebra", "a", "at 9") is None


def test_a_question_gets_an_answerable_and_an_unanswerable_passage() -> None:
    added: list[tuple[str, str, tuple[int, int] | None, int]] = []

    class Kept:
        def add(self, task, source, document, question, passage, *, span=None, answerable=-1, polarity=-1):
            added.append((question, passage, span, answerable))

    passage = "The pool opens at 9 in the morning. Towels cost two euros each. The sauna is closed in summer time."
    items = [
        {"document": "pool", "question": "When does the pool open?", "passage": passage, "span": (15, 19)},
        {"document": "bus", "question": "When does the bus to the pool leave?",
         "passage": "The bus to the pool leaves the station every hour until the evening.", "span": (39, 49)},
    ]  # fmt: skip
    question_source(Kept(), "made", items * 20, unanswerable=1.0)
    with_answer = [one for one in added if one[3] == 1]
    assert len(with_answer) == 40
    assert {text[span[0] : span[1]] for _, text, span, _ in with_answer if span} == {"at 9", "every hour"}
    without = [one for one in added if one[3] == 0]
    assert len(without) > 20
    for question, text, span, _ in without:
        assert span is None
        if question == "When does the pool open?":
            assert "at 9" not in text


def test_pieces_spans_and_sentences_are_packed(tmp_path: Path) -> None:
    tokenizer = shipped_model("pincite-embed").file("tokenizer.json")
    rows = [
        example("Who pays?", "Anna pays. Ben eats.", span=(11, 14), answerable=1, polarity=2),
        example("Who pays?", "word " * 400 + "Anna", span=(2000, 2004), answerable=1),
        example("The pool is open.", "word " * 400, task="claim", claim=2, language="de"),
    ]
    assert pack(rows, str(tokenizer), str(tmp_path / "train.npz")) == [0, 2]
    made = np.load(tmp_path / "train.npz")
    assert made["length"].tolist() == [12, read_prepare.ROOM]
    assert made["question"].tolist() == [5, 7]
    assert (made["start"].tolist(), made["end"].tolist()) == ([8, -1], [8, -1])
    assert made["ids"][[0, 4, 11, 12]].tolist() == [101, 102, 102, 101]
    assert made["sentence"][:12].tolist() == [0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 0]
    assert (made["task"].tolist(), made["language"].tolist()) == ([0, 1], [0, 2])
    assert (made["answerable"].tolist(), made["claim"].tolist()) == ([1, -1], [-1, 2])
