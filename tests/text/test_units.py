from pincite.text.units import cardinal_words, number_words, scales, units


def test_every_unit_is_known_by_one_spelling_in_lower_case() -> None:
    known = units()
    assert all(name == name.lower() for name in known)
    assert known["km"] == ("m", 1000.0)
    assert known["stunden"] == known["hours"] == ("s", 3600.0)
    assert known["€"][0] == known["euro"][0] == "EUR"


def test_numbers_in_words() -> None:
    numbers = number_words()
    assert [numbers[word] for word in ("zwölf", "twenty-one", "twenty one", "einundzwanzig")] == [12, 21, 21, 21]
    assert [numbers[word] for word in ("anderthalb", "three and a half", "siebte", "fifth")] == [1.5, 3.5, 7, 5]


def test_zero_and_ordinals_are_no_amounts() -> None:
    assert {"two", "einundzwanzig"} <= cardinal_words()
    assert not {"zero", "null", "fifth"} & cardinal_words()


def test_a_billion_is_not_the_same_in_both_languages() -> None:
    assert scales("de")["billion"] == 1000 * scales("en")["billion"] == 1000 * scales("de")["milliarde"]
