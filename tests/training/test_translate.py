"""Translated training text: what is translated, which translations are used, and the examples made of them."""

import argparse
import gzip
import json
import lzma
import random
from pathlib import Path

import pytest

from training.translate import good_translation, joined, known, language_of, lines, pairs, translated_passage

TEXT = "The pool opens at 9 on Sunday. Anna Keller keeps the keys of the house. A ticket costs 1,200 euros a year."
GERMAN = {
    "The pool opens at 9 on Sunday.": "Das Bad öffnet am Sonntag um 9.",
    "Anna Keller keeps the keys of the house.": "Anna Keller verwahrt die Schlüssel.",
    "A ticket costs 1,200 euros a year.": "Eine Karte kostet 1.200 Euro im Jahr.",
}


SOURCES = [*((number, "QAMR") for number in range(900)), *((number, "StackExchange") for number in range(900, 950))]


@pytest.fixture(autouse=True)
def fixed() -> None:
    random.seed(2)


def row(answer: str | None, question: str = "What does a ticket cost?") -> dict:
    span = (TEXT.index(answer), TEXT.index(answer) + len(answer)) if answer else None
    return {"q": question, "p": TEXT, "span": span, "language": "en", "answerable": int(span is not None)}


@pytest.mark.parametrize(
    ("text", "language"),
    [("Wann öffnet das Bad?", "de"), ("When does the pool open?", "en"), ("Wer ist der Leiter?", "de")],
)
def test_the_language_is_told_by_small_words(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("english", "german", "good"),
    [
        ("The pool opens at 9 on Sunday mornings.", "Das Bad öffnet am Sonntagmorgen um 9.", True),
        ("A ticket costs 1,200 euros.", "Eine Karte kostet 1.200 Euro.", True),
        ("The pool opens at 9 on Sunday mornings.", "Das Bad öffnet am Sonntagmorgen um 8.", False),
        ("The pool opens at 9 on Sunday mornings.", "The pool opens at 9 on Sunday mornings.", False),
        ("When does the pool open on Sundays?", "Das Bad öffnet am Sonntag um neun.", False),
        ("The pool opens at 9 on Sunday mornings.", "Um 9.", False),
        ("The pool opens at 9 on Sunday mornings.", "Das Bad öffnet\nam Sonntag um 9.", False),
    ],
)
def test_a_translation_has_the_same_numbers_and_a_like_length(english: str, german: str, good: bool) -> None:
    assert good_translation(english, german) is good


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [("9", "9"), ("Anna Keller", "Anna Keller"), ("1,200 euros", "1.200"), ("the keys of the house", None)],
)
def test_the_answer_is_found_again_in_the_translation(answer: str, wanted: str | None) -> None:
    found = translated_passage(row(answer), GERMAN)
    assert found is not None
    text, span = found
    assert text == " ".join(GERMAN.values())
    assert (text[slice(*span)] if span else None) == wanted


def test_a_passage_with_a_missing_translation_is_left_out() -> None:
    assert translated_passage(row("9"), dict(list(GERMAN.items())[:2])) is None


def test_the_question_the_passage_or_both_are_german() -> None:
    words = GERMAN | {"What does a ticket cost?": "Was kostet eine Karte?"}
    made = [new for _ in range(30) for new in joined(row("1,200 euros"), words)]
    german = " ".join(GERMAN.values())
    assert {(one["q"], one["p"]) for one in made} == {
        ("Was kostet eine Karte?", TEXT),
        ("Was kostet eine Karte?", german),
        ("What does a ticket cost?", german),
    }
    assert all(one["language"] == "de" for one in made)
    assert {one["p"][slice(*one["span"])] for one in made} == {"1,200 euros", "1.200"}
    assert joined(row(None, "Who?"), {}) == []


def write_rows(path: Path, found: list[dict]) -> str:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(one) + "\n" for one in found)
    return str(path)


def options(folder: Path, **paths: str) -> argparse.Namespace:
    return argparse.Namespace(most=0, texts=str(folder), **paths)


def test_only_what_is_not_translated_yet_is_listed_claims_first(tmp_path: Path) -> None:
    asked = row("9") | {"task": "span"}
    claim = row(None, "Anna Keller has no key.") | {"task": "claim", "p": "Anna Keller keeps the keys of the house."}
    base = write_rows(tmp_path / "base.jsonl.gz", [asked, claim])
    write_rows(
        tmp_path / "translated-1.jsonl.gz", [{"en": english, "de": german} for english, german in GERMAN.items()][:1]
    )
    lines(options(tmp_path, base=base, out=str(tmp_path / "lines.txt.xz")))
    with lzma.open(tmp_path / "lines.txt.xz", "rt", encoding="utf-8") as file:
        assert file.read().splitlines() == [
            "Anna Keller has no key.",
            "What does a ticket cost?",
            "Anna Keller keeps the keys of the house.",
            "A ticket costs 1,200 euros a year.",
        ]


def test_a_translation_far_from_its_original_is_not_used(tmp_path: Path) -> None:
    found = [{"en": "a", "de": "b", "cosine": 0.95}, {"en": "c", "de": "d", "cosine": 0.7}, {"en": "e", "de": "f"}]
    write_rows(tmp_path / "translated-1.jsonl.gz", found)
    assert known(str(tmp_path)) == {"a": "b", "e": "f"}


def test_sentences_of_a_passage_stay_together_in_a_shard(tmp_path: Path) -> None:
    kept = row("9") | {"task": "span", "source": "PolicyQA"}
    left_out = row("9") | {"task": "span", "source": "AdversarialQA", "p": "Other text. More of it.", "q": "Other?"}
    base = write_rows(tmp_path / "base.jsonl.gz", [kept, left_out])
    words = GERMAN | {
        "What does a ticket cost?": "Was kostet eine Karte?",
        "Other text.": "Anderer Text.",
        "Other?": "Andere?",
    }
    write_rows(tmp_path / "translated-1.jsonl.gz", [{"en": english, "de": german} for english, german in words.items()])
    pairs(options(tmp_path, base=base, out=str(tmp_path)))
    with lzma.open(tmp_path / "pairs-translated.txt.xz", "rt", encoding="utf-8") as file:
        assert file.read() == "".join(f"{english}\t{german}\n" for english, german in GERMAN.items()) + "\n"
    with lzma.open(tmp_path / "pairs-questions.txt.xz", "rt", encoding="utf-8") as file:
        assert file.read() == "What does a ticket cost?\tWas kostet eine Karte?\n\n"


def test_with_a_number_of_lines_whole_examples_are_listed(tmp_path: Path) -> None:
    base, out = tmp_path / "base.jsonl.gz", tmp_path / "lines.txt.xz"
    two = [{"q": f"What costs {n}?", "p": f"It costs {n}. It is new.", "source": source} for n, source in SOURCES]
    with gzip.open(base, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(one | {"language": "en", "task": "span"}) + "\n" for one in two)
    lines(argparse.Namespace(base=str(base), texts=str(tmp_path), out=str(out), most=50))
    with lzma.open(out, "rt", encoding="utf-8") as file:
        listed = file.read().split("\n")[:-1]
    assert len(listed) >= 50
    for line in listed:
        if line.startswith("What"):
            assert f"It costs {line[11:-1]}." in listed
            assert int(line[11:-1]) < 900  # the others are of a source that is not drawn


def test_translations_that_no_embedder_measured_are_used_if_their_numbers_agree(tmp_path: Path) -> None:
    made = [
        {"en": "It opens at 9 every day.", "de": "Es öffnet jeden Tag um 9."},
        {"en": "It opens at 8 every day.", "de": "Es öffnet jeden Tag um 9."},
        {"en": "It opens at 7 every day.", "de": "Es öffnet jeden Tag um 7.", "cosine": 0.5},
    ]
    with gzip.open(tmp_path / "translated-0.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(one) + "\n" for one in made)
    assert list(known(str(tmp_path))) == ["It opens at 9 every day."]
