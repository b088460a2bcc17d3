"""The pairs of `benchmarks/yes_no.py`, and its verdicts."""

from collections import Counter

import pytest

from benchmarks.yes_no import Outcome, Pair, judge, read_pairs, table
from tests.builders import answer, source

PAIR = Pair(
    "en", "Pool", "Dogs may not enter the pool.", "Dogs may not enter the pool.",
    "Are dogs kept out of the pool?", "May my dog come to the pool?",
)  # fmt: skip


def test_there_are_a_hundred_pairs_in_each_language_and_their_sentence_stands_in_the_text() -> None:
    pairs = read_pairs()
    assert Counter(one.language for one in pairs) == {"en": 100, "de": 100}
    assert len({one.title for one in pairs}) == 200
    assert all(one.evidence in one.text for one in pairs)


@pytest.mark.parametrize(
    ("text", "wanted", "verdict"),
    [
        ("Dogs may not enter the pool.", "no", "right"),
        ("No. Dogs may not enter the pool.", "no", "right"),
        ("Yes. Dogs may not enter the pool.", "no", "inverted"),
        ("No. Dogs may not enter the pool.", "yes", "inverted"),
        ("The pool has two lanes.", "no", "other"),
        ("No dogs: dogs may not enter the pool.", "yes", "right"),
    ],
)
def test_an_answer_is_right_with_the_deciding_sentence_and_no_wrong_word(text: str, wanted: str, verdict: str) -> None:
    assert judge(PAIR, wanted, answer(text, (source(1, "pool", PAIR.text),))).verdict == verdict


def test_an_answer_without_a_source_is_refused() -> None:
    assert judge(PAIR, "no", answer("Nothing found.")).verdict == "refused"


def test_shares_are_counted_by_language_and_answer() -> None:
    rows = table([Outcome(PAIR, "yes", "", "right", True), Outcome(PAIR, "no", "", "inverted", True)]).splitlines()
    assert rows[2] == "| en, yes | 1 | 1.000 | 0.000 | 0.000 | 0.000 | 1.000 |"
    assert rows[-1] == "| all | 2 | 0.500 | 0.000 | 0.000 | 0.500 | 1.000 |"
