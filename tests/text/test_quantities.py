import pytest

from pincite.text.quantities import values_in


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
