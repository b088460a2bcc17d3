"""Spellings of one thing have one key, and other things have another."""

import pytest

from pincite.text.terms import query_terms, question_words, terms
from pincite.text.wording.equivalents import equivalents, keys_in, normalised, other_units

SAME = {
    "2022": ["FY2022", "FY 2022", "FY22", "fy’22", "fiscal 2022", "Fiscal year 2022", "year ended June 30, 2022"],
    "2021": ["Geschäftsjahr 2021", "GJ 2021", "GJ21", "des Geschäftsjahres 2021", "financial year 2021"],
    "q2": ["Q2", "2Q", "second quarter", "2nd quarter", "2. Quartal", "zweites Quartal", "im zweiten Quartal"],
    "h1": ["H1", "first half", "first half-year", "1. Halbjahr", "erstes Halbjahr", "ersten Jahreshälfte"],
    "date20220503": [
        "3 May 2022", "May 3, 2022", "3rd of May 2022", "2022-05-03", "03.05.2022", "3. Mai 2022", "5/3/2022",
    ],
    "date20220930": ["Sept. 30, 2022", "30 Sep 2022", "30/9/2022"],
    "usd1200000000": ["$1.2 billion", "USD 1,200 million", "$1.2bn", "1.2bn dollars", "US$1,200m", "$1,200,000,000"],
    "eur5": ["€5", "€ 5", "5 €", "5 EUR", "EUR 5", "5 Euro", "5 euros"],
    "eur2400000000": ["2,4 Mrd. Euro", "2,4 Milliarden €", "2.4 billion euros", "€2.4bn", "EUR 2,400 million"],
    "gbp81000000": ["£81 million", "81 million pounds", "GBP 81m"],
    "pct5": ["5 %", "5%", "5 percent", "5 per cent", "5 Prozent"],
    "eur1200d5": ["1.200,50 EUR", "€1,200.50", "1200,50 €"],
    "g35000": ["35 kg", "35 kilograms", "35 Kilogramm"],
    "v3d1d0": ["3.1.0", "v3.1.0", "[3.1.0]", "V3.1.0"],
    "5400000": ["5,400,000", "5.400.000", "5.4 million", "5,4 Millionen"],
}  # fmt: skip


@pytest.mark.parametrize(("key", "text"), [(key, text) for key, texts in SAME.items() for text in texts])
def test_all_spellings_have_the_key(key: str, text: str) -> None:
    language = "de" if any(word in text for word in ("Mrd", "Milli", "Prozent", ".400", "1.200", "1200,")) else "en"
    assert key in keys_in(text, language)
    assert key in question_words(text, language)
    assert key in terms(f"It was {text}.", language)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("FY2021", "FY2022"),
        ("3.1.0", "3.1.2"),
        ("1.200.000", "3.1.0"),
        ("Q2", "Q3"),
        ("first half", "second half"),
        ("$5", "€5"),
        ("3 May 2022", "3 May 2021"),
        ("3 May 2022", "5 March 2022"),
        ("$1.2 billion", "$1.2 million"),
        ("5 kg", "5 g"),
    ],
)
def test_other_things_have_other_keys(one: str, other: str) -> None:
    assert question_words(one, "en") != question_words(other, "en")
    assert set(equivalents(one, "en")[0].asked).isdisjoint(keys_in(other, "en"))


@pytest.mark.parametrize(
    "text",
    [
        "fiscal policy",
        "version 3.1",
        "17 items",
        "in 2022",
        "within 30 days",
        "a half",
        "at 12:30",
        "room H12",
        "Q5",
        "A$75m",
    ],
)
def test_what_has_one_spelling_has_no_key(text: str) -> None:
    assert keys_in(text, "en") == []


def test_two_years_and_a_quarter_with_a_short_year() -> None:
    assert keys_in("im GJ 2021/22", "de") == keys_in("Geschäftsjahr 2021/2022", "de") == ["2021", "2022"]
    assert keys_in("2Q22 and Q3’21", "en") == ["q2", "2022", "q3", "2021"]
    assert keys_in("In Q2 15 people left", "en") == ["q2"]  # no year


def test_a_day_with_its_year_is_found_by_the_day_alone() -> None:
    assert set(question_words("on 3 May", "en")) & set(keys_in("2022-05-03", "en")) == {"date0503"}


def test_a_line_break_within_a_paragraph_is_a_blank_and_rows_are_apart() -> None:
    assert keys_in("It cost $1.2\nbillion on May 3,\n2022.", "en") == ["usd1200000000", "date20220503", "date0503"]
    assert keys_in("| 5 |\n| million |", "en") == []


def test_a_question_has_the_keys_in_place_of_its_words() -> None:
    asked = "Did sales exceed $1.2bn in FY22 or in the second quarter?"
    assert normalised(asked, "en") == "Did sales exceed usd1200000000 in 2022 or in the q2?"
    assert query_terms("sales in FY22", ["en"]).keys() == query_terms("sales in fiscal 2022", ["en"]).keys()


def test_the_same_amount_in_another_currency() -> None:
    keys = frozenset(keys_in("€350 million, $350 million and €5", "en"))
    assert other_units("usd350000000", keys) == {"eur350000000"}
    assert other_units("usd5", keys) == {"eur5"}
    assert not other_units("q2", keys)
