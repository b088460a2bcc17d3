"""Faults, as they are written."""

from pathlib import Path

import pytest

from pincite.errors import SettingsError
from pincite.stub.faults import FAULTS, Fault, parse_fault


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("cut", Fault("cut", 3)),
        ("cut:0@2", Fault("cut", 0, 2, 2)),
        ("429", Fault("429", 1)),
        ("429:0.5@2-4", Fault("429", 0.5, 2, 4)),
        ("500@3-", Fault("500", 0, 3, None)),
        (" hang ", Fault("hang", 0)),
    ],
)
def test_a_fault_has_a_name_a_number_and_the_calls_it_hits(text: str, fault: Fault) -> None:
    assert parse_fault(text) == fault


def test_a_fault_hits_the_calls_it_names() -> None:
    assert [parse_fault("500@2-3").hits(n) for n in (1, 2, 3, 4)] == [False, True, True, False]
    assert all(parse_fault("500").hits(n) for n in (1, 99))
    assert (parse_fault("503").status, parse_fault("cut").status) == (503, None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hag", "did you mean 'hang'"),
        ("42x", "any HTTP status from 400"),
        ("200", "there is no fault '200'"),
        ("cut:x", "write it like"),
        ("reset:3", "takes no number"),
        ("500@0", "counted from 1"),
        ("500@3-2", "affects no call"),
    ],
)
def test_an_invalid_fault_is_an_error_with_a_hint(text: str, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        parse_fault(text)


def test_every_fault_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "stub.md").read_text(encoding="utf-8")
    for name, meaning in FAULTS.items():
        assert f"| `{name}` | {meaning} |" in page
