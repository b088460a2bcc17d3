"""Possible typos and their corrections."""

import string
from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.query.understand.spelling import PossibleTypo, apply_corrections, best_correction, edits, possible_typos

COMMON = {"with": 6e-3, "that": 8e-3, "vacation": 2e-5, "since": 5e-4, "science": 4e-5, "care": 5e-4, "cause": 1e-4}
WORD = st.text("abcdeilnrst", min_size=4, max_size=9)


def words_of(text: str) -> list[str]:
    return [one.word for one in possible_typos(text)]


def fix(word: str, *held: str, name: bool = False, language: str = "en") -> str | None:
    return best_correction(PossibleTypo(0, len(word), word, name), edits(word, language), frozenset(held), COMMON)


def test_plain_words_are_looked_at_with_their_place() -> None:
    text = "How many vacaton days?"
    assert [(text[one.start : one.end], one.word) for one in possible_typos(text)] == [
        ("many", "many"),
        ("vacaton", "vacaton"),
        ("days", "days"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "die USA",
        "PPARy",
        "iPSC",
        "p53",
        "B12x",
        "word2vec",
        "snake_case",
        "a.py",
        "example.com",
        "http://exmaple/x",
        "me@exmaple.de",
        "--verbsoe",
        "obj.methd",
        "methd()",
        "key=valeu",
        "/ect/hosts",
        "#hashtga",
        "50%ige",
        '"teh quotde part"',
        "„wörtlich zitirt“",
        "`quotde`",
        "'quotde words'",
        "doesn't",
        "Newton's",
        "l’homme",
        "東京都は",
        "x" * 31,
        "wtf",
        "über",
        "4711",
        "🙂🙂🙂🙂",
        "Universita\u0308t",
        "Uni\u00adversitaet",
        "",
    ],
)
def test_figures_codes_acronyms_quotes_and_short_words_are_not(text: str) -> None:
    assert words_of(text) == []


def test_parts_of_a_hyphenated_word_stand_alone() -> None:
    assert words_of("0-dimansional inflammation-realated") == ["dimansional", "inflammation", "realated"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Who was Jared Norman?", ["jared", "norman"]),
        ("Panthers lost. Broncos won", []),
        ("(Panthers) lost: Broncos won", []),
        ('The "x" Panthers', ["panthers"]),
    ],
)
def test_a_capital_in_the_middle_of_a_sentence_makes_a_name(text: str, names: list[str]) -> None:
    assert [one.word for one in possible_typos(text) if one.name] == names


@given(WORD, st.data())
def test_every_slip_of_one_letter_is_undone(word: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(word) - 2))
    letter = data.draw(st.sampled_from(string.ascii_lowercase))
    slips = [
        word[:at] + word[at + 1 :],
        word[:at] + letter + word[at:],
        word[:at] + letter + word[at + 1 :],
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    ]
    for slip in slips:
        assert slip == word or word in edits(slip, "en")


def test_umlauts_are_letters_in_german_alone() -> None:
    assert "universität" in edits("universitt", "de")
    assert "universität" not in edits("universitt", "en")


def test_the_word_that_documents_hold_is_meant() -> None:
    assert fix("kubernets", "kubernetes") == "kubernetes"
    assert fix("kubernets") is None


def test_a_common_word_is_meant_though_no_document_holds_it() -> None:
    assert fix("wtih") == "with"


def test_a_letter_left_out_is_likelier_than_one_too_many() -> None:
    assert fix("caue", "cause", "care") == "cause"


def test_of_two_rare_words_none_is_chosen() -> None:
    assert fix("beriods", "beroids", "periods") is None
    assert fix("beriods", "beroids") == "beroids"


def test_a_rare_word_that_begins_or_ends_otherwise_is_another_word() -> None:
    assert fix("tegmental", "segmental") is None
    assert fix("nexin", "nexis") is None
    assert fix("gegens", "gegend", name=True) is None
    assert fix("tocopheryl", "tocopherol") is None
    assert fix("tocopehrol", "tocopherol") == "tocopherol"
    assert fix("hat", "that") == "that"


def test_a_name_is_corrected_to_the_only_one_that_is_near() -> None:
    assert fix("brittish", "british", name=True) == "british"
    assert fix("geegen", "gegeen", "gegen", name=True) is None
    assert fix("mims", "mimes", name=True) is None
    assert fix("wtihs", name=True) is None


def corrected_words(text: str, **fixes: str) -> str:
    return apply_corrections(text, {one: fixes[one.word] for one in possible_typos(text) if one.word in fixes})


def test_the_rest_of_the_question_stays_as_it_was() -> None:
    text = "Brittish  vacaton (days)\tvacaton?"
    assert corrected_words(text, brittish="british", vacaton="vacation", days="days") == text
    text = "Brittish  vacaton (in the UK), 25 days\tof vacaton?"
    assert (
        corrected_words(text, brittish="british", vacaton="vacation")
        == "British  vacation (in the UK), 25 days\tof vacation?"
    )


@pytest.mark.parametrize(
    ("text", "same"), [("vacaton", True), ("vacaton dayz", True), ("vacaton days", False), ("thre vacaton days", True)]
)
def test_a_question_that_would_lose_more_than_half_its_words_stays(text: str, same: bool) -> None:
    assert (corrected_words(text, vacaton="vacation", dayz="days", thre="three") == text) is same


@given(st.lists(WORD, min_size=1, max_size=8), st.sets(WORD), st.sets(WORD))
def test_no_correction_is_less_than_half_the_words_or_three_fifths_of_the_letters(
    words: list[str], held: set[str], common: set[str]
) -> None:
    text = " ".join(words)
    wrong = [one for one in possible_typos(text) if one.word not in held]
    found = {one: best_correction(one, edits(one.word, "en"), held, dict.fromkeys(common, 1e-4)) for one in wrong}
    after = apply_corrections(text, {one: word for one, word in found.items() if word})
    kept = sum(old == new for old, new in zip(words, after.split(), strict=True))
    assert 2 * kept >= len(words)
    assert SequenceMatcher(None, text, after, autojunk=False).ratio() >= 0.6
    assert all(new == old for old, new in zip(words, after.split(), strict=True) if old in held)
