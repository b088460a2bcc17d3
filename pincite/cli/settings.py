"""Settings: looked at, changed for every process, taken back."""

from typing import TYPE_CHECKING, Annotated

import typer

from pincite.cli.command import CommandContext, command
from pincite.cli.output import print_json

if TYPE_CHECKING:
    from pincite.engine.app import AsyncPincite
    from pincite.engine.live_settings import SettingsOutcome

KeyArgument = Annotated[str, typer.Argument(metavar="KEY", help="A setting, such as rag.top_k.")]


def register(app: typer.Typer) -> None:
    """Make these a group of commands of `app`."""
    group = typer.Typer(help="Settings: look at them, change them for every process, take that back.",
                        rich_markup_mode=None)  # fmt: skip
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
    door: CommandContext,
    changed: Annotated[bool, typer.Option("--changed", help="Only those that are not at their default.")] = False,
) -> None:
    """List the settings: value, where it comes from, when a change acts."""
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.settings import print_settings
    from pincite.serialize import settings as shapes

    async with door.open() as pincite:
        control = pincite.admin.settings
        lines = [line for line in control.lines() if not changed or line.source != "default"]
        if door.json:
            kept = {line.key.name for line in lines}
            told = shapes.settings(control)
            told["items"] = [item for item in told["items"] if item["key"] in kept]
            told["values"] = {key: value for key, value in told["values"].items() if key in kept}
            print_json(told)
        else:
            print_settings(Screen(), control, lines)


async def get(door: CommandContext, key: KeyArgument) -> None:
    """Show one setting: its value, where that comes from, and what it may be."""
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.settings import print_setting
    from pincite.serialize import settings as shapes

    async with door.open() as pincite:
        line = pincite.admin.settings.line(key)
        if door.json:
            print_json(shapes.setting_key(line.key) | shapes.setting(line))
        else:
            print_setting(Screen(), pincite.admin.settings, line)


async def set_settings(
    door: CommandContext,
    pairs: Annotated[
        list[str], typer.Argument(metavar="KEY VALUE …", help="Settings and their new values, all changed together.")
    ],
) -> None:
    """Change settings for every process that uses this library, from its next request on.

    `KEY VALUE` or `KEY=VALUE`, several of them at once; all are changed, or none.
    """
    from pincite.core.accounts.access import LOCAL

    values = _pairs(pairs)
    async with door.open() as pincite:
        await _tell(door, pincite, await pincite.admin.settings.set(values, LOCAL))


async def reset(
    door: CommandContext,
    keys: Annotated[list[str], typer.Argument(metavar="KEY …", help="Settings to give up changes of.")],
) -> None:
    """Give up changes: the settings are again what the file, the environment or the default says."""
    from pincite.core.accounts.access import LOCAL

    async with door.open() as pincite:
        await _tell(door, pincite, await pincite.admin.settings.set(dict.fromkeys(keys), LOCAL))


async def undo(door: CommandContext) -> None:
    """Take back the last change; twice takes back two."""
    from pincite.core.accounts.access import LOCAL

    async with door.open() as pincite:
        await _tell(door, pincite, await pincite.admin.settings.undo(LOCAL))


async def apply(
    door: CommandContext, profile: Annotated[str, typer.Argument(metavar="PROFILE", help="The profile's name.")]
) -> None:
    """Set what a profile sets, for the whole library, and take back what other profiles set."""
    from pincite.core.accounts.access import LOCAL

    async with door.open() as pincite:
        await _tell(door, pincite, await pincite.admin.settings.apply(profile, LOCAL))


async def diff(
    door: CommandContext,
    profile: Annotated[
        str | None,
        typer.Argument(metavar="[PROFILE]", help="A profile; without one, the defaults.", show_default=False),
    ] = None,
) -> None:
    """Show what differs from the defaults, or what applying a profile would change."""
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.settings import print_differences
    from pincite.config.schema import without_password

    async with door.open() as pincite:
        differences, missing = _differences(pincite, profile)
    if door.json:
        items = [{"key": key, "from": without_password(a), "to": without_password(b)}
                 for key, (a, b) in differences.items()]  # fmt: skip
        print_json({"profile": profile, "items": items, "notes": list(missing)})
    else:
        print_differences(Screen(), profile, differences, missing)


async def history(
    door: CommandContext,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1000, help="How many, newest first.")] = 20,
) -> None:
    """Show who changed what, newest first."""
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.settings import print_history
    from pincite.core.accounts.access import LOCAL
    from pincite.serialize import settings as shapes

    async with door.open() as pincite:
        found = await pincite.admin.settings.history(LOCAL, limit=limit)
    if door.json:
        print_json(shapes.page([shapes.setting_change(change) for change in found]))
    else:
        print_history(Screen(), found)


async def schema(door: CommandContext) -> None:
    """Show what every setting means, what it may be and its default."""
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.settings import print_schema
    from pincite.config.schema import catalogue
    from pincite.serialize import settings as shapes

    if door.json:
        print_json(shapes.page([shapes.setting_key(key) for key in catalogue().values()]))
    else:
        print_schema(Screen(), list(catalogue().values()))


def _pairs(given: list[str]) -> dict[str, str]:
    """`["rag.top_k", "5", "rag.alpha=0.3"]` → both settings."""
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
            raise Invalid(f"'{key}' is given twice")
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


async def _tell(door: CommandContext, pincite: "AsyncPincite", outcome: "SettingsOutcome") -> None:
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.settings import print_outcome
    from pincite.serialize import settings as shapes

    stale = await pincite.documents.stale()
    told = shapes.settings_outcome(outcome, stale, pincite.admin.settings)
    if door.json:
        print_json(told)
    else:
        configured = {change.key: pincite.admin.settings.configured(change.key) for change in outcome.changes}
        print_outcome(Screen(), outcome, configured, told["notes"])
