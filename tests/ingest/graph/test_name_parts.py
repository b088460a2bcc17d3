"""Where a run of words with capitals holds more or less than one name."""

import pytest

from pincite.ingest.graph.name_parts import is_german_noun, is_given_name, is_role, name_parts


def parts(text: str, language: str) -> list[tuple[str, bool]]:
    words = [(word, 0, 0) for word in text.split()]
    return [(" ".join(word for word, _, _ in one), introduced) for one, introduced in name_parts(words, language)]


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Manitoba's Hudson Bay", "en", [("Manitoba's", False), ("Hudson Bay", False)]),
        ("Korean People's Army", "en", [("Korean People's Army", False)]),
        ("US President James Woods", "en", [("James Woods", False)]),
        ("Hurrikan Dora", "de", [("Dora", True)]),
        ("Peter Müller", "de", [("Peter Müller", False)]),
        ("Milliarde Jahren", "de", []),
        ("Nordwerk GmbH", "de", [("Nordwerk GmbH", False)]),
        ("Vereinigten Staaten Florida", "de", [("Vereinigten Staaten", False), ("Florida", False)]),
        ("Gitarrist von Duran Duran", "de", [("Duran Duran", False)]),
    ],
)
def test_runs_are_split_at_what_belongs_to_no_name(text: str, language: str, expected: list[tuple[str, bool]]) -> None:
    assert parts(text, language) == expected


def test_german_nouns_are_known_by_dictionary_and_compound_and_names_are_not() -> None:
    assert all(is_german_noun(word, "de") for word in ("Jahr", "Lehrbuchbeispiel", "IPCC-Vorgang", "Fall"))
    assert not any(is_german_noun(word, "de") for word in ("Hoesung", "Spanien", "NATO", "Fielding"))
    assert not is_german_noun("Jahr", "en")


def test_given_names_and_offices() -> None:
    assert is_given_name("Anna-Maria")
    assert not is_given_name("Jordan")
    assert is_role([("Mayor", 0, 0), ("of", 0, 0), ("Edison", 0, 0)], "en")
    assert not is_role([("Bank", 0, 0), ("of", 0, 0), ("Edison", 0, 0)], "en")
