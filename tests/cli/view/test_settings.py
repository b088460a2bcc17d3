"""Settings in a terminal."""

from types import SimpleNamespace
from typing import Any

import pytest

from pincite.cli.view.settings import (
    format_value,
    print_differences,
    print_history,
    print_outcome,
    print_schema,
    print_setting,
    print_settings,
)
from pincite.config.schema import catalogue
from pincite.core.operations import SettingChange
from pincite.engine.live_settings import SettingLine, SettingsOutcome

from .makers import DAY, seen


def control(safe: bool = False, **ignored: str) -> Any:
    return SimpleNamespace(safe=safe, ignored=ignored, overridden={}, settings=SimpleNamespace(revision=4))


def line(name: str, value: Any, source: Any = "default", **more: Any) -> SettingLine:
    return SettingLine(catalogue()[name], value, source, more.pop("set", value is not None), **more)


def change(key: str, before: Any, after: Any, **more: Any) -> SettingChange:
    values = {"batch": 1, "kind": "set", "profile": None, "undoes": None, "person": "local", "key_id": None}
    fields: dict[str, Any] = {**values, **more}
    return SettingChange(key=key, before=before, after=after, changed_at=DAY, **fields)


@pytest.mark.parametrize("width", [80, 120])
def test_a_list_fits_the_screen_and_hides_secrets(width: int) -> None:
    lines = [
        line("rag.top_k", 3, "database"),
        line("llm.api_key", None, "environment", set=True),
        line("llm.model", "m" * 200, "call"),
        line("chunking.size", 500),
    ]
    told = seen(lambda screen: print_settings(screen, control(), lines), width=width).splitlines()
    assert [row.split()[1:3] for row in told[1:2]] == [["3", "database"]]
    assert "set, not shown" in told[2]
    assert "this call" in told[3]
    assert told[4].split()[-2:] == ["next", "indexing"]
    assert told[-1] == "revision 4"
    assert max(map(len, told)) <= width


def test_one_setting_shows_an_unused_stored_value() -> None:
    told = " ".join(
        seen(lambda screen: print_setting(screen, control(), line("rag.top_k", 9, "call", stored=3))).split()
    )
    assert told.startswith("rag.top_k 9 this call Number of passages a search returns")
    assert "May be a whole number from 1 to 1000; 10 by default." in told
    assert "PINCITE_RAG__TOP_K, RETRIEVAL_TOP_K" in told
    assert "The database has 3, which is not used here." in told


def test_ignored_settings_are_printed() -> None:
    assert "PINCITE_SAFE is set" in seen(lambda screen: print_settings(screen, control(safe=True, x="y"), []))
    told = seen(lambda screen: print_settings(screen, control(gone="there is no setting"), []))
    assert "The stored gone is not used: there is no setting" in told


def test_a_change_is_printed_per_setting() -> None:
    outcome = SettingsOutcome(1, (change("rag.top_k", None, 3), change("llm.model", "a", None)), ())
    configured = {"rag.top_k": 10, "llm.model": None}
    told = seen(lambda screen: print_outcome(screen, outcome, configured, ["mind this"]))
    assert told.splitlines() == ["rag.top_k  10 → 3", "llm.model  a → (none)", "mind this"]


LONG = "conversation.query_rewriting_enabled"


def test_a_key_is_never_cut() -> None:
    lines = [line(LONG, True), line("llm.model", "m" * 200, "call")]
    piped = seen(lambda screen: print_settings(screen, control(), lines), piped=True).splitlines()
    assert piped[1].split() == [LONG, "true", "default", "next", "request"]
    assert piped[2].split()[1] == "m" * 200
    for width in (40, 60, 80):
        told = seen(lambda screen: print_settings(screen, control(), lines), width=width)
        assert f"\n{LONG} " in told
        assert max(map(len, told.splitlines())) <= width


def test_differences_from_the_defaults_or_to_a_profile() -> None:
    pairs = {"rag.alpha": (0.5, 0.3)}
    assert seen(lambda screen: print_differences(screen, None, pairs, ())).split() == [
        "setting",
        "default",
        "now",
        "rag.alpha",
        "0.5",
        "0.3",
    ]
    told = seen(lambda screen: print_differences(screen, "vexora", pairs, ("it would like x",)))
    assert told.split()[:3] == ["setting", "now", "vexora"]
    assert "it would like x" in told
    assert "Nothing differs from the defaults." in seen(lambda screen: print_differences(screen, None, {}, ()))


def test_the_history_goes_by_batches() -> None:
    changes = [
        change("a", 2, None, batch=3, kind="undo", undoes=2),
        change("a", None, 2, batch=2, undone=True),
        change("b", None, 2, batch=1, kind="apply", profile="local", key_id="k1"),
    ]
    told = seen(lambda screen: print_history(screen, changes)).splitlines()
    assert "undoes 2 by local" in told[0]
    assert told[2].endswith("set by local  undone")
    assert "apply local by local (key k1)" in told[4]


def test_the_schema_has_each_setting_with_its_meaning() -> None:
    told = seen(lambda screen: print_schema(screen, list(catalogue().values())))
    assert "rag.fusion  'relative_score' or 'rrf'; relative_score by default; takes effect at the next request" in told


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("", "(empty)"),
        (None, "(none)"),
        ((), "(none)"),
        (["a", "b"], "a, b"),
        (True, "true"),
        ({"a": "é"}, '{"a": "é"}'),
        ("http://u:secret@h?key=secret", "http://h"),
        ("\x1b[31m", "\x1b[31m"),
    ],
)
def test_values_are_printed_as_written(value: Any, text: str) -> None:
    assert format_value(value) == text


def test_a_value_cannot_steer_the_terminal() -> None:
    told = seen(lambda screen: print_settings(screen, control(), [line("llm.model", "\x1b[31mred", "database")]))
    assert "\x1b" not in told
