"""Who and what is named."""

import pytest

from pincite.text.names import has_word, is_plain, strangers, swapped

WORDS = {
    "de": "der die folk metal gruppe band werkstatt dach kuppel wird von schule typen sturm unwetter zieht auf räumt".split(),
    "en": "the shutter was closed by dome observers kept astronomers".split(),
}


def plain(word: str, language: str) -> bool:
    return word in WORDS[language]


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("brückls", "Jonas Brückl"), ("werkstatt", "Das Werkstattdach"), ("arpnet", "ARPANET and SITA"),
        ("usa", "the U.S.A."), ("folk-metal-gruppe", "die Folk-Metal-Band"), ("immunsuppressivum", "Immunsuppressiva"),
    ],
)  # fmt: skip
def test_a_word_is_found_in_other_forms(word: str, text: str) -> None:
    assert has_word(word.replace("ü", "u"), text)


def test_names_that_the_source_does_not_have_are_strangers() -> None:
    assert strangers("The dome was closed by Ada Lovelace.", "Grace Hopper closed it.", "en", plain)[0] == [
        "Ada",
        "Lovelace",
    ]
    assert strangers("Iran is an ally of the United States.", "Iran, a US ally", "en", plain) == ([], [])
    assert strangers("Kwabena Asolo räumt das Dach.", "Das Dach der Werkstatt", "de", plain)[0] == ["Kwabena", "Asolo"]


def test_a_german_noun_that_is_missing_is_no_name() -> None:
    assert strangers("Das Unwetter zieht auf.", "Der Sturm zieht auf.", "de", plain) == ([], ["Unwetter"])


def test_compounds_are_plain_where_their_parts_are() -> None:
    assert is_plain("werkstattdach", "de", plain)
    assert is_plain("schultypen", "de", plain)
    assert not is_plain("asolo", "de", plain)


@pytest.mark.parametrize(
    ("claim", "told", "found"),
    [
        (
            "The dome was closed by Ada Lovelace.",
            "The dome was closed by Grace Hopper.",
            ("Ada Lovelace", "Grace Hopper"),
        ),
        ("Smith beat Jones.", "Jones beat Smith.", ("Smith", "Jones")),
        ("Jones was beaten by Smith.", "Smith beat Jones.", None),
        ("The dome was closed by the ESA.", "The dome was closed by the European Space Agency.", None),
        ("Observers kept the dome closed.", "Astronomers kept the dome closed.", None),
    ],
)
def test_a_name_in_the_place_of_another_is_noticed(claim: str, told: str, found: tuple[str, str] | None) -> None:
    assert swapped(claim, told, "en", plain) == found
