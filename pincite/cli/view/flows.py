"""Stored flows in a terminal."""

import json
from collections.abc import Sequence

from pincite.cli.view.screen import Screen, make_table, styled
from pincite.core.operations import StoredFlow


def print_flows(screen: Screen, flows: Sequence[StoredFlow]) -> None:
    """Print the stored flows, one per line."""
    if not flows:
        screen.print_line("There are no stored flows; store one with: pincite flow save NAME FILE")
        return
    table = make_table("flow", ">version", ">nodes", "stored")
    for one in flows:
        table.add_row(one.name, str(one.version), str(len(one.definition["nodes"])), _time(one))
    screen.print_table(table)


def print_flow(screen: Screen, flow: StoredFlow, versions: Sequence[StoredFlow]) -> None:
    """Print one version of a flow, and which versions there are."""
    screen.print_line((flow.name, "bold"), (f"  version {flow.version} of {flow.versions}, {_time(flow)}", "dim"))
    for line in json.dumps(flow.definition, ensure_ascii=False, indent=2).splitlines():
        screen.print_line(line)
    if len(versions) > 1:
        listed = ", ".join(f"{one.version} ({_time(one)})" for one in versions)
        screen.print_wrapped(styled(f"versions: {listed}", "dim"))


def _time(flow: StoredFlow) -> str:
    return f"{flow.created_at.astimezone():%Y-%m-%d %H:%M}"
