"""Counting tokens offline."""

import hashlib
import lzma
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.errors import SettingsError
from pincite.text.tokens import ENCODINGS, VOCABULARIES, Tokenizer

CL100K = Tokenizer("cl100k_base")


@pytest.mark.parametrize(
    ("name", "text", "tokens"),
    [
        ("cl100k_base", "", 0),
        ("cl100k_base", "hello world", 2),
        ("cl100k_base", "tiktoken is great!", 6),
        ("cl100k_base", "antidisestablishmentarianism", 6),
        ("cl100k_base", "2 + 2 = 4", 7),
        ("cl100k_base", "お誕生日おめでとう", 9),
        ("cl100k_base", "<|endoftext|>", 7),
        ("o200k_base", "お誕生日おめでとう", 8),
    ],
)
def test_counts_are_those_of_the_published_vocabularies(name: str, text: str, tokens: int):
    assert Tokenizer(name).count(text) == tokens


def test_half_a_surrogate_pair_is_counted_and_not_an_error():
    assert CL100K.count("a\ud800b") == CL100K.count("a?b")


@pytest.mark.parametrize("name", list(ENCODINGS))
def test_the_vocabularies_are_those_that_were_published(name: str) -> None:
    readme = (VOCABULARIES / "README.md").read_text(encoding="utf-8")
    content = lzma.decompress((VOCABULARIES / f"{name}.xz").read_bytes())
    assert f"`{name}.xz` | {ENCODINGS[name]:,} | `{hashlib.sha256(content).hexdigest()}`" in readme


def test_long_runs_of_one_character_take_no_longer_than_text() -> None:
    assert CL100K.count("a" * 200_000) == 25_000
    assert CL100K.count(" " * 200_000) == 1_563


def test_an_unknown_name_is_refused_at_once():
    with pytest.raises(SettingsError, match="cl100k_base, o200k_base"):
        Tokenizer("p50k_base")


@settings(max_examples=60)
@given(st.text(alphabet=st.sampled_from("ab .\n😀ß中1#\t"), max_size=200), st.integers(1, 30), st.integers(0, 20))
def test_reach_goes_as_far_as_the_limit_allows(text: str, limit: int, start: int):
    start = min(start, len(text))
    reached = CL100K.reach(text, start, len(text), limit)
    if CL100K.count(text[start:]) <= limit:
        assert reached == len(text)
    else:
        assert start < reached
        assert CL100K.count(text[start:reached]) <= limit or reached == start + 1


def test_reach_on_words_fills_the_limit():
    text = "word " * 1000
    assert CL100K.count(text[: CL100K.reach(text, 0, len(text), 100)]) == 100


def test_reach_looks_far_enough_where_tokens_are_long():
    text = " " * 100_000 + "x"
    assert CL100K.reach(text, 0, len(text), 10) > 10 * 100


def test_nothing_is_loaded_before_it_is_used():
    code = "import sys; from pincite.text.tokens import Tokenizer; Tokenizer(); assert 'tiktoken' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("text", ["", "One word, and another.", "Größe 😀 und 日本語 🤷🏽‍♀️!", "a" * 50, "\ud800 half"])
def test_every_token_begins_somewhere_in_order_and_the_first_at_zero(text: str):
    tokenizer = Tokenizer()
    starts = list(tokenizer.starts(text))
    assert len(starts) == tokenizer.count(text)
    assert starts == sorted(starts)
    assert starts[:1] == [0][: len(starts)]
    assert all(0 <= start < len(text) for start in starts)


def test_plain_words_begin_where_they_stand():
    assert list(Tokenizer().starts("the cat sat")) == [0, 3, 7]


def test_tokens_are_decoded_and_unknown_ones_refused() -> None:
    assert Tokenizer().decode([15339, 1917]) == "hello world"
    assert Tokenizer().decode([15339, 10**9]) == ""
