"""Commands for the database: check."""

import typer

from pincite.cli.command import CommandContext, command
from pincite.cli.output import print_json


def register(app: typer.Typer) -> None:
    """Register these commands as a group of `app`."""
    group = typer.Typer(help="The database: check.", rich_markup_mode=None)
    command(group, "check")(check)
    app.add_typer(group, name="database")


async def check(context: CommandContext) -> None:
    """Say what the database of PINCITE_DATABASE_URL lacks, with the SQL that an administrator runs; change nothing.

    Exit code 1 if something is missing.
    """
    from dataclasses import asdict

    from pincite.cli.view.doctor import print_findings
    from pincite.cli.view.screen import Screen
    from pincite.engine.diagnose import check_database

    findings = await check_database(context.settings)
    complete = not any(finding.state == "broken" for finding in findings)
    if context.json:
        print_json({"ok": complete, "checks": [asdict(finding) for finding in findings]})
    else:
        print_findings(Screen(), findings)
    if not complete:
        raise typer.Exit(1)
