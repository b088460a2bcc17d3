"""Settings in a terminal: the list, one of them, what changed."""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rich.text import Text

from pincite.cli.view.screen import UNLIMITED, Screen, grid, joined, shorten, styled
from pincite.config.schema import Key, without_password
from pincite.core.operations import SettingChange
from pincite.engine.live_settings import LiveSettings, SettingLine, SettingsOutcome

ACTS = {"query": "next request", "index": "next indexing", "start": "next start"}
SOURCES = {"default": "dim", "file": "cyan", "environment": "cyan", "database": "green", "call": "magenta"}
VALUE = 30
"""Columns a value gets in a table on a terminal at most."""


def print_settings(screen: Screen, control: LiveSettings, lines: Sequence[SettingLine]) -> None:
    """Print a line for each setting."""
    table = grid("setting", "~value", "from", "a change acts at the")
    for line in lines:
        table.add_row(line.key.name, _value(line, _room(screen)), _source(line), styled(ACTS[line.key.acts], "dim"))
    screen.table(table, give_way=("a change acts at the", "from"))
    _print_state(screen, control)


def print_setting(screen: Screen, control: LiveSettings, line: SettingLine) -> None:
    """Print one setting with everything there is to say about it."""
    key = line.key
    screen.say((key.name, "bold"), "  ", _value(line), "  ", _source(line))
    screen.flowing(styled(key.description), indent=2)
    screen.flowing(styled(f"May be {key.allowed}; {_default(key)}.", "dim"), indent=2)
    names = ", ".join((key.environment, *key.aliases))
    change = key.fixed or f"Change it with: pincite settings set {key.name} VALUE (acts at the {ACTS[key.acts]})"
    screen.flowing(styled(f"In the environment: {names}.", "dim"), indent=2)
    screen.flowing(styled(f"{change[:1].upper()}{change[1:]}.", "dim"), indent=2)
    if line.stored is not None:
        screen.flowing(
            styled(f"The database says {shown(line.stored)}, which does not count here.", "yellow"), indent=2
        )
    _print_state(screen, control)


def print_outcome(
    screen: Screen, outcome: SettingsOutcome, configured: Mapping[str, Any], notes: Iterable[str]
) -> None:
    """Print what a change changed; `configured` are the values that count where nothing was changed."""
    if not outcome.changes:
        screen.say("Nothing changed: it was so already.")
    for change in outcome.changes:
        screen.say(_step(change, configured))
    for note in notes:
        screen.flowing(styled(note, "yellow"))


def print_differences(
    screen: Screen, profile: str | None, differences: Mapping[str, tuple[Any, Any]], missing: Sequence[str]
) -> None:
    """Print what is one way and would be, or was, another."""
    if not differences:
        what = "the defaults" if profile is None else f"the profile {profile}"
        screen.say(f"Nothing differs from {what}.")
    table = grid("setting", "~default" if profile is None else "~now", "~now" if profile is None else f"~{profile}")
    for key, pair in differences.items():
        before, after = (shorten(shown(value), _room(screen)) for value in pair)
        table.add_row(key, styled(before, "dim"), styled(after, "bold"))
    if differences:
        screen.table(table)
    for note in missing:
        screen.flowing(styled(note, "yellow"))


def print_history(screen: Screen, changes: Sequence[SettingChange]) -> None:
    """Print batches of changes, newest first."""
    if not changes:
        screen.say("No setting was ever changed here.")
    for batch, members in groupby(changes, key=lambda change: change.batch):
        rows = list(members)
        first = rows[0]
        who = first.person + (f" (key {first.key_id})" if first.key_id else "")
        what = f"undoes {first.undoes}" if first.undoes else f"apply {first.profile}" if first.profile else first.kind
        state = ("  undone", "yellow") if first.undone else ""
        screen.say((f"{batch:>4}  ", "bold"), f"{first.changed_at:%Y-%m-%d %H:%M}  {what} by {who}", state)
        for change in rows:
            screen.say("      ", _step(change))


def print_schema(screen: Screen, keys: Sequence[Key]) -> None:
    """Print what every setting means."""
    for key in keys:
        screen.say((key.name, "bold"), (f"  {key.allowed}; {_default(key)}; acts at the {ACTS[key.acts]}", "dim"))
        screen.flowing(styled(key.description), indent=2)


def shown(value: Any) -> str:
    """A value as one would write it."""
    value = str(value) if isinstance(value, Path) else without_password(value)
    if isinstance(value, str):
        return value or "(empty)"
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or "(none)"
    return "(none)" if value is None or value == {} else json.dumps(value, ensure_ascii=False, default=str)


def _room(screen: Screen) -> int:
    """Columns a value gets in a table."""
    return VALUE if screen.is_terminal else screen.columns


def _value(line: SettingLine, room: int = UNLIMITED) -> Text:
    if line.key.secret:
        return styled("set, not shown" if line.set else "(none)", "dim")
    text = shorten(shown(line.value), room)
    return styled(text, "" if line.source == "default" else "bold")


def _source(line: SettingLine) -> Text:
    return styled("this call" if line.source == "call" else line.source, SOURCES.get(line.source, ""))


def _default(key: Key) -> str:
    return f"{shown(None if key.secret else key.default)} by default"


def _step(change: SettingChange, configured: Mapping[str, Any] = MappingProxyType({})) -> Text:
    plain = shown(configured[change.key]) if change.key in configured else "as configured"
    before, after = (plain if value is None else shown(value) for value in (change.before, change.after))
    return joined(f"{change.key}  ", (before, "dim"), " → ", (after, "bold"))


def _print_state(screen: Screen, control: LiveSettings) -> None:
    if control.safe:
        screen.flowing(styled("PINCITE_SAFE is set: the changes in the database are ignored.", "yellow"))
    elif control.ignored:
        for key, reason in control.ignored.items():
            screen.flowing(styled(f"The stored {key} does not count: {reason}", "yellow"))
    screen.say((f"revision {control.settings.revision}", "dim"))
