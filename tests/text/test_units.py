from pincite.text.units import SCALES, SPELT, UNITS


def test_every_unit_is_known_by_one_spelling_in_lower_case() -> None:
    assert all(name == name.lower() for name in UNITS)
    assert UNITS["km"] == ("m", 1000.0)
    assert UNITS["stunden"] == UNITS["hours"] == ("s", 3600.0)
    assert UNITS["€"][0] == UNITS["euro"][0] == "EUR"


def test_numbers_in_words() -> None:
    assert (SPELT["zwölf"], SPELT["twenty-one"], SPELT["twenty one"], SPELT["einundzwanzig"]) == (12, 21, 21, 21)
    assert (SPELT["anderthalb"], SPELT["three and a half"], SPELT["siebte"], SPELT["fifth"]) == (1.5, 3.5, 7, 5)


def test_a_billion_is_not_the_same_in_both_languages() -> None:
    assert SCALES["de"]["billion"] == 1000 * SCALES["en"]["billion"] == 1000 * SCALES["de"]["milliarde"]
