"""The doctor: is everything well, and if not, what to do."""

import typer

from pincite.cli.door import Door, command
from pincite.cli.safe import print_json


def register(app: typer.Typer) -> None:
    """Make this a command of `app`."""
    command(app, "doctor")(doctor)


async def doctor(door: Door) -> None:
    """Check that all works, and say what to do where it does not.

    Exit code 1 if something is broken.
    """
    from dataclasses import asdict

    from pincite.cli.checkup import examine
    from pincite.cli.view.checkup import print_findings
    from pincite.cli.view.screen import Screen, waiting

    with waiting("examining …"):
        findings = await examine(door.settings)
    healthy = not any(finding.state == "broken" for finding in findings)
    if door.json:
        print_json({"ok": healthy, "checks": [asdict(finding) for finding in findings]})
    else:
        print_findings(Screen(), findings)
    if not healthy:
        raise typer.Exit(1)
