"""The doctor: is everything well, and if not, what to do."""

from typing import TYPE_CHECKING, Annotated

import typer

from pincite.cli.command import CommandContext, command
from pincite.cli.output import print_json

if TYPE_CHECKING:
    from pincite.config.settings import Settings


def register(app: typer.Typer) -> None:
    """Make this a command of `app`."""
    command(app, "doctor")(doctor)


async def doctor(
    door: CommandContext,
    verify: Annotated[
        bool, typer.Option("--verify", help="Also compare every file and passage that is kept with what came in.")
    ] = False,
) -> None:
    """Check that all works, and say what to do where it does not.

    Exit code 1 if something is broken.
    """
    from dataclasses import asdict

    from pincite.cli.view.doctor import print_findings
    from pincite.cli.view.screen import Screen, waiting
    from pincite.engine.diagnose import diagnose

    settings = await _in_force(door)
    with waiting("examining …"):
        findings = await diagnose(settings, verify=verify)
    healthy = not any(finding.state == "broken" for finding in findings)
    if door.json:
        print_json({"ok": healthy, "checks": [asdict(finding) for finding in findings]})
    else:
        print_findings(Screen(), findings)
    if not healthy:
        raise typer.Exit(1)


async def _in_force(door: CommandContext) -> "Settings":
    """The settings with an administrator's changes, where there is a library to read them from."""
    from pincite.errors import PinciteError

    if door.settings.database.url is None and not door.settings.data.is_dir():
        return door.settings
    try:
        async with door.open() as pincite:
            return pincite.admin.index.wanted_settings
    except PinciteError:  # what is wrong with it is found below
        return door.settings
