"""Settings in a terminal: the list, one setting, changes."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rich.text import Text

from pincite.cli.view.screen import UNLIMITED_COLUMNS, Screen, join_text, make_table, shorten, styled
from pincite.config.schema import Key, without_password
from pincite.core.operations import SettingChange
from pincite.engine.live_settings import LiveSettings, SettingLine, SettingsOutcome

ACTS_AT = {"query": "next request", "index": "next indexing", "start": "next start"}
SOURCE_STYLES = {"default": "dim", "file": "cyan", "environment": "cyan", "database": "green", "call": "magenta"}
MAX_VALUE_COLUMNS = 30
"""Maximum columns of a value in a table on a terminal."""


def print_settings(screen: Screen, control: LiveSettings, lines: Sequence[SettingLine]) -> None:
    """Print a row per setting."""
    table = make_table("setting", "~value", "from", "takes effect at")
    for line in lines:
        table.add_row(
            line.key.name,
            _format_current(line, _value_columns(screen)),
            _format_source(line),
            styled(ACTS_AT[line.key.acts], "dim"),
        )
    screen.print_table(table, drop_first=("takes effect at", "from"))
    _print_state(screen, control, {line.key.name for line in lines})


def print_setting(screen: Screen, control: LiveSettings, line: SettingLine) -> None:
    """Print one setting with value, source, allowed values and environment names."""
    key = line.key
    screen.print_line((key.name, "bold"), "  ", _format_current(line), "  ", _format_source(line))
    screen.print_wrapped(styled(key.description), indent=2)
    screen.print_wrapped(styled(f"May be {key.allowed}; {_format_default(key)}.", "dim"), indent=2)
    names = ", ".join((key.environment, *key.aliases))
    change = (
        key.fixed or f"Change it with: pincite settings set {key.name} VALUE (takes effect at the {ACTS_AT[key.acts]})"
    )
    screen.print_wrapped(styled(f"In the environment: {names}.", "dim"), indent=2)
    screen.print_wrapped(styled(f"{change[:1].upper()}{change[1:]}.", "dim"), indent=2)
    if line.stored is not None:
        screen.print_wrapped(
            styled(f"The database has {format_value(line.stored)}, which is not used here.", "yellow"), indent=2
        )
    _print_state(screen, control, {key.name})


def print_outcome(
    screen: Screen, outcome: SettingsOutcome, configured: Mapping[str, Any], notes: Iterable[str]
) -> None:
    """Print the changes of settings; `configured` holds the values of settings without a stored change."""
    if not outcome.changes:
        screen.print_line("Nothing changed: the settings have these values already.")
    for change in outcome.changes:
        screen.print_line(_format_change(change, configured))
    for note in notes:
        screen.print_wrapped(styled(note, "yellow"))


def print_differences(
    screen: Screen, profile: str | None, differences: Mapping[str, tuple[Any, Any]], missing: Sequence[str]
) -> None:
    """Print the differences from the defaults or from a profile, and its notes."""
    if not differences:
        what = "the defaults" if profile is None else f"the profile {profile}"
        screen.print_line(f"Nothing differs from {what}.")
    table = make_table(
        "setting", "~default" if profile is None else "~now", "~now" if profile is None else f"~{profile}"
    )
    for key, pair in differences.items():
        before, after = (shorten(format_value(value), _value_columns(screen)) for value in pair)
        table.add_row(key, styled(before, "dim"), styled(after, "bold"))
    if differences:
        screen.print_table(table)
    for note in missing:
        screen.print_wrapped(styled(note, "yellow"))


def print_history(screen: Screen, changes: Sequence[SettingChange]) -> None:
    """Print the batches of changes, newest first."""
    if not changes:
        screen.print_line("No setting has been changed yet.")
    for batch, members in groupby(changes, key=lambda change: change.batch):
        rows = list(members)
        first = rows[0]
        who = first.person + (f" (key {first.key_id})" if first.key_id else "")
        what = f"undoes {first.undoes}" if first.undoes else f"apply {first.profile}" if first.profile else first.kind
        state = ("  undone", "yellow") if first.undone else ""
        screen.print_line((f"{batch:>4}  ", "bold"), f"{first.changed_at:%Y-%m-%d %H:%M}  {what} by {who}", state)
        for change in rows:
            screen.print_line("      ", _format_change(change))


def print_schema(screen: Screen, keys: Sequence[Key]) -> None:
    """Print the description of every setting."""
    for key in keys:
        screen.print_line(
            (key.name, "bold"),
            (f"  {key.allowed}; {_format_default(key)}; takes effect at the {ACTS_AT[key.acts]}", "dim"),
        )
        screen.print_wrapped(styled(key.description), indent=2)


def format_value(value: Any) -> str:
    """Format a value as a user would write it."""
    value = str(value) if isinstance(value, Path) else without_password(value)
    if isinstance(value, str):
        return value or "(empty)"
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or "(none)"
    return "(none)" if value is None or value == {} else json.dumps(value, ensure_ascii=False, default=str)


def _value_columns(screen: Screen) -> int:
    """Columns of a value in a table."""
    return MAX_VALUE_COLUMNS if screen.is_terminal else screen.columns


def _format_current(line: SettingLine, room: int = UNLIMITED_COLUMNS) -> Text:
    if line.key.secret:
        return styled("set, not shown" if line.set else "(none)", "dim")
    text = shorten(format_value(line.value), room)
    return styled(text, "" if line.source == "default" else "bold")


def _format_source(line: SettingLine) -> Text:
    return styled("this call" if line.source == "call" else line.source, SOURCE_STYLES.get(line.source, ""))


def _format_default(key: Key) -> str:
    return f"{format_value(None if key.secret else key.default)} by default"


def _format_change(change: SettingChange, configured: Mapping[str, Any] = MappingProxyType({})) -> Text:
    plain = format_value(configured[change.key]) if change.key in configured else "as configured"
    before, after = (plain if value is None else format_value(value) for value in (change.before, change.after))
    return join_text(f"{change.key}  ", (before, "dim"), " → ", (after, "bold"))


def _print_state(screen: Screen, control: LiveSettings, names: Collection[str]) -> None:
    if control.safe:
        screen.print_wrapped(styled("PINCITE_SAFE is set: the changes in the database are ignored.", "yellow"))
    elif control.ignored:
        for key, reason in control.ignored.items():
            screen.print_wrapped(styled(f"The stored {key} is not used: {reason}", "yellow"))
    for key, reason in control.overridden.items():
        if key in names:
            screen.print_wrapped(styled(reason, "yellow"))
    screen.print_line((f"revision {control.settings.revision}", "dim"))
