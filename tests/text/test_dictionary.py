"""The plain words of a language."""

import pytest

from pincite.text.dictionary import COMMON_SHARE, dictionary, languages


@pytest.mark.parametrize(
    ("language", "words", "not_words"),
    [
        ("en", ["vacation", "asymptomatic", "with"], ["vacaton", "wtih", "", "cation\nvacation"]),
        ("de", ["urlaub", "straße", "universität"], ["urlaup", "universitt"]),
    ],
)
def test_a_language_has_its_words_and_no_others(language: str, words: list[str], not_words: list[str]) -> None:
    known = dictionary(language)
    assert [word for word in words if word not in known] == []
    assert [word for word in not_words if word in known] == []


@pytest.mark.parametrize("language", languages())
def test_common_words_have_their_share_of_what_is_said(language: str) -> None:
    common = dictionary(language).common
    assert all(share >= COMMON_SHARE for share in common.values())
    assert 0.5 < sum(common.values()) <= 1
    assert 5_000 < len(common) < 50_000
