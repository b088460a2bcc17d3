"""Commands for settings: list, get, set, reset, undo, apply, diff, history, schema."""

from typing import TYPE_CHECKING, Annotated

import typer

from pincite.cli.command import CommandContext, command
from pincite.cli.output import print_json

if TYPE_CHECKING:
    from pincite.engine.app import AsyncPincite
    from pincite.engine.live_settings import SettingsOutcome

KeyArgument = Annotated[str, typer.Argument(metavar="KEY", help="A setting, such as rag.top_k.")]


def register(app: typer.Typer) -> None:
    """Register these commands as a group of `app`."""
    group = typer.Typer(help="Settings: list them, change them for every process, undo changes.", rich_markup_mode=None)
    command(group, "list")(list_settings)
    command(group, "get")(get)
    command(group, "set", ids=True)(set_settings)
    command(group, "reset")(reset)
    command(group, "undo")(undo)
    command(group, "apply")(apply)
    command(group, "diff")(diff)
    command(group, "history")(history)
    command(group, "schema")(schema)
    app.add_typer(group, name="settings")


async def list_settings(
    context: CommandContext,
    changed: Annotated[bool, typer.Option("--changed", help="Only settings that differ from their default.")] = False,
) -> None:
    """List the settings with value, source and when a change takes effect."""
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.settings import print_settings
    from pincite.serialize.settings import (
        settings_json,
    )

    async with context.open() as pincite:
        control = pincite.admin.settings
        lines = [line for line in control.lines() if not changed or line.source != "default"]
        if context.json:
            names = {line.key.name for line in lines}
            fields = settings_json(control)
            fields["items"] = [item for item in fields["items"] if item["key"] in names]
            fields["values"] = {key: value for key, value in fields["values"].items() if key in names}
            print_json(fields)
        else:
            print_settings(Screen(), control, lines)


async def get(context: CommandContext, key: KeyArgument) -> None:
    """Show one setting with value, source and allowed values."""
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.settings import print_setting
    from pincite.serialize.settings import setting_json, setting_key_json

    async with context.open() as pincite:
        line = pincite.admin.settings.line(key)
        if context.json:
            print_json(setting_key_json(line.key) | setting_json(line))
        else:
            print_setting(Screen(), pincite.admin.settings, line)


async def set_settings(
    context: CommandContext,
    pairs: Annotated[
        list[str], typer.Argument(metavar="KEY VALUE …", help="Settings and their new values, all changed together.")
    ],
) -> None:
    """Change settings for every process that uses this library, from its next request on.

    Give `KEY VALUE` or `KEY=VALUE`, also several; either all are changed or none.
    """
    from pincite.core.accounts.access import LOCAL

    values = _parse_pairs(pairs)
    async with context.open() as pincite:
        await _print_outcome(context, pincite, await pincite.admin.settings.set(values, LOCAL))


async def reset(
    context: CommandContext,
    keys: Annotated[list[str], typer.Argument(metavar="KEY …", help="Settings to reset.")],
) -> None:
    """Reset settings to the value of the file, the environment or the default."""
    from pincite.core.accounts.access import LOCAL

    async with context.open() as pincite:
        await _print_outcome(context, pincite, await pincite.admin.settings.set(dict.fromkeys(keys), LOCAL))


async def undo(context: CommandContext) -> None:
    """Undo the last change; repeat it to undo earlier ones."""
    from pincite.core.accounts.access import LOCAL

    async with context.open() as pincite:
        await _print_outcome(context, pincite, await pincite.admin.settings.undo(LOCAL))


async def apply(
    context: CommandContext, profile: Annotated[str, typer.Argument(metavar="PROFILE", help="The profile's name.")]
) -> None:
    """Apply a profile to the whole library, and reset what other profiles set."""
    from pincite.core.accounts.access import LOCAL

    async with context.open() as pincite:
        await _print_outcome(context, pincite, await pincite.admin.settings.apply(profile, LOCAL))


async def diff(
    context: CommandContext,
    profile: Annotated[
        str | None,
        typer.Argument(metavar="[PROFILE]", help="A profile; default: compare with the defaults.", show_default=False),
    ] = None,
) -> None:
    """Show the differences from the defaults, or the changes of applying a profile."""
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.settings import print_differences
    from pincite.config.schema import without_password

    async with context.open() as pincite:
        differences, missing = _differences(pincite, profile)
    if context.json:
        items = [
            {"key": key, "from": without_password(before), "to": without_password(after)}
            for key, (before, after) in differences.items()
        ]
        print_json({"profile": profile, "items": items, "notes": list(missing)})
    else:
        print_differences(Screen(), profile, differences, missing)


async def history(
    context: CommandContext,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, max=1000, help="Maximum number of batches of changes.")
    ] = 20,
) -> None:
    """List changes of settings and who made them, newest first."""
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.settings import print_history
    from pincite.core.accounts.access import LOCAL
    from pincite.serialize.primitives import page_json
    from pincite.serialize.settings import setting_change_json

    async with context.open() as pincite:
        found = await pincite.admin.settings.history(LOCAL, limit=limit)
    if context.json:
        print_json(page_json([setting_change_json(change) for change in found]))
    else:
        print_history(Screen(), found)


async def schema(context: CommandContext) -> None:
    """Describe every setting: meaning, allowed values and default."""
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.settings import print_schema
    from pincite.config.schema import catalogue
    from pincite.serialize.primitives import page_json
    from pincite.serialize.settings import setting_key_json

    if context.json:
        print_json(page_json([setting_key_json(key) for key in catalogue().values()]))
    else:
        print_schema(Screen(), list(catalogue().values()))


def _parse_pairs(given: list[str]) -> dict[str, str]:
    """Parse `["rag.top_k", "5", "rag.alpha=0.3"]` into two settings."""
    from pincite.errors import Invalid

    values: dict[str, str] = {}
    rest = iter(given)
    for word in rest:
        key, equals, value = word.partition("=")
        if not equals:
            following = next(rest, None)
            if following is None:
                raise Invalid(
                    f"there is no value for '{key}'; give KEY VALUE, such as: pincite settings set rag.top_k 5"
                )
            value = following
        if key in values:
            raise Invalid(f"'{key}' is given twice; give it once")
        values[key.strip()] = value.strip()
    return values


def _differences(
    pincite: "AsyncPincite", profile: str | None
) -> tuple[dict[str, tuple[object, object]], tuple[str, ...]]:
    if profile is not None:
        return pincite.admin.settings.diff_profile(profile)
    lines = [line for line in pincite.admin.settings.lines() if line.source != "default" and not line.key.secret]
    pairs = {line.key.name: (line.key.default, line.value) for line in lines}
    return {key: (before, now) for key, (before, now) in pairs.items() if before != now}, ()


async def _print_outcome(context: CommandContext, pincite: "AsyncPincite", outcome: "SettingsOutcome") -> None:
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.settings import print_outcome
    from pincite.serialize.settings import settings_outcome_json

    stale = await pincite.documents.stale()
    fields = settings_outcome_json(outcome, stale, pincite.admin.settings)
    if context.json:
        print_json(fields)
    else:
        configured = {change.key: pincite.admin.settings.configured(change.key) for change in outcome.changes}
        print_outcome(Screen(), outcome, configured, fields["notes"])
