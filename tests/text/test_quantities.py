"""Numbers, times and dates of a text, as spans and as values."""

import pytest

from pincite.text.quantities import Figure, agree, figures_in, rival, unmatched, values_in


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("It opened on 9 October 1994 at 08:10.", {"time": ["9 October 1994", "08:10"]}),
        ("Am 17. August 2024, im 19. Jahrhundert und in den 1990er Jahren.", {"time": ["17. August 2024", "19. Jahrhundert", "1990er"]}),
        ("It cost 41,300 francs, or $5 million.", {"money": ["41,300 francs", "$5 million"]}),
        ("Below 19.5 percent, 3,8 %.", {"percent": ["19.5 percent", "3,8 %"]}),
        ("Wait for 45 minutes or twenty-five years.", {"duration": ["45 minutes", "twenty-five years"]}),
        ("Up to 80 km/h, 60 litres, −5 °C, zwölf Meter.", {"quantity": ["80 km/h", "60 litres", "−5 °C", "zwölf Meter"]}),
        ("Four drums, 212 turns, einundzwanzig Tafeln.", {"number": ["Four", "212", "einundzwanzig"]}),
        ("Nobody came.", {}),
    ],
)  # fmt: skip
def test_values_are_found_by_kind(text: str, kinds: dict[str, list[str]]) -> None:
    found: dict[str, list[str]] = {}
    for value in values_in(text):
        assert text[value.start : value.end] == value.text
        found.setdefault(value.kind, []).append(value.text)
    assert found == kinds


@pytest.mark.parametrize(
    "line", ["1 " * 5000, "1" * 9999, "1,000" * 2000, "a" * 9999 + "ten", "1-" * 5000, "May " * 3000]
)
def test_no_text_takes_long(line: str) -> None:
    import time

    started = time.process_time()
    values_in(line)
    assert time.process_time() - started < 2.0


def one(text: str, language: str = "en") -> Figure:
    [found] = figures_in(text, language)
    return found


@pytest.mark.parametrize(
    ("claimed", "told"),
    [
        ("41,300 francs", "CHF 41300"),
        ("41.300 Franken", "41 300 francs"),
        ("thirty days", "30 days"),
        ("dreißig Tage", "30 Tage"),
        ("dreissig Tage", "30 days"),
        ("fünfundzwanzig Personen", "25 Personen"),
        ("twenty-five people", "25 people"),
        ("dreieinhalb Stunden", "3,5 Stunden"),
        ("180 minutes", "3 hours"),
        ("80 cm", "80 Zentimeter"),
        ("1.5 million euros", "€1,500,000"),
        ("2,5 Mio. Euro", "2.5 million euros"),
        ("30%", "30 percent"),
        ("30 Prozent", "30 %"),
        ("6½ sacks", "6.5 sacks"),
        ("8:10", "08:10 Uhr"),
        ("6:30 p.m.", "18:30"),
        ("18 November 2023", "2023-11-18"),
        ("18. November", "November 18, 2023"),
        ("November 2023", "18 November 2023"),
        ("about 40 francs", "41.30 francs"),
        ("the 10th series", "the tenth series"),
        ("30", "30 days"),
    ],
)
def test_one_value_is_one_however_it_is_written(claimed: str, told: str) -> None:
    german = "de" if any(word in claimed for word in ("Mio", "Tage", "ünf", "ein", "Prozent", ". Nov")) else "en"
    assert unmatched(figures_in(claimed, german), figures_in(told, "de" if "Stunden" in told else "en")) == []


@pytest.mark.parametrize(
    ("claimed", "told"),
    [
        ("30 days", "25 days"),
        ("30 days", "30 hours"),
        ("30 euros", "30 francs"),
        ("18 November", "19 November"),
        ("18 November 2023", "18 November 2021"),
        ("08:10", "08:40"),
        ("over 73,000 works", "over 70,000 works"),
        ("1990", "1991"),
        ("-12 °C", "12 °C"),
    ],
)
def test_another_value_is_another(claimed: str, told: str) -> None:
    assert unmatched(figures_in(claimed, "en"), figures_in(told, "en"))


def test_a_point_before_three_digits_may_part_thousands_or_be_decimal() -> None:
    assert one("1.500").values == {1.5, 1500.0}
    assert one("1.500.000").values == {1_500_000.0}
    assert one("1,500.25").values == {1500.25}
    assert one("3.62").values == {3.62}


def test_codes_have_no_numbers_and_small_words_are_no_months() -> None:
    assert figures_in("Error E-14 and COVID-19 may happen; May I go?", "en") == ()


def test_what_is_told_instead_is_of_the_same_kind_and_unit() -> None:
    told = figures_in("In 1931, 25 days and 12 francs on 3 May", "en")
    assert rival(one("30 days"), told) == figures_in("25 days", "en")[0]
    assert (found := rival(one("4 May"), told)) is not None
    assert found.shown == "3 May"
    assert rival(one("08:10"), told) is None


def test_a_month_alone_agrees_with_any_of_its_days_and_not_the_other_way() -> None:
    assert agree(one("in November"), one("18 November"))
    assert not agree(one("18 November"), one("in November"))


def test_french_values_are_found_in_french_texts_only() -> None:
    text = "le 1er mai 2020 à 14h30 ; vingt-cinq euros"
    assert [value.text for value in values_in(text, "fr")] == ["1er mai 2020", "14h30", "vingt-cinq euros"]
    assert [figure.unit for figure in figures_in("deux cents francs", "fr")] == ["CHF"]
    assert figures_in("Mars is a planet.", "en") == ()
    assert [value.kind for value in values_in("Mars is a planet.", "en")] == []
