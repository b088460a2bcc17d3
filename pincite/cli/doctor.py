"""The command doctor: check the installation and advise on problems."""

from typing import TYPE_CHECKING, Annotated

import typer

from pincite.cli.command import CommandContext, command
from pincite.cli.output import print_json

if TYPE_CHECKING:
    from pincite.config.settings import Settings


def register(app: typer.Typer) -> None:
    """Register this command with `app`."""
    command(app, "doctor")(doctor)


async def doctor(
    context: CommandContext,
    verify: Annotated[bool, typer.Option("--verify", help="Also verify every stored file and chunk.")] = False,
) -> None:
    """Check the installation and print advice for each problem.

    Exit code 1 if something is broken.
    """
    from dataclasses import asdict

    from pincite.cli.view.doctor import print_findings
    from pincite.cli.view.screen import Screen, waiting
    from pincite.engine.diagnose import diagnose

    settings = await _current_settings(context)
    with waiting("examining …"):
        findings = await diagnose(settings, verify=verify)
    healthy = not any(finding.state == "broken" for finding in findings)
    if context.json:
        print_json({"ok": healthy, "checks": [asdict(finding) for finding in findings]})
    else:
        print_findings(Screen(), findings)
    if not healthy:
        raise typer.Exit(1)


async def _current_settings(context: CommandContext) -> "Settings":
    """The settings with the changes stored in the database, if there is a library."""
    from pincite.errors import PinciteError

    if context.settings.database.url is None and not context.settings.data.is_dir():
        return context.settings
    try:
        async with context.open() as pincite:
            return pincite.admin.index.wanted_settings
    except PinciteError:  # the checks report what is wrong
        return context.settings
