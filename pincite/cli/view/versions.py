"""Differences between versions, and indexes, in a terminal."""

from pincite.cli.output import clean
from pincite.cli.view.screen import Screen, make_table
from pincite.engine.index.switch import IndexStatus
from pincite.engine.reader.diff import Difference

LINE_STYLES = {"same": (" ", ""), "removed": ("-", "red"), "added": ("+", "green")}


def print_difference(screen: Screen, name: str, found: Difference) -> None:
    """Print a unified diff, changed metadata first."""
    screen.print_line((f"--- {clean(name)} {found.before}", "bold"))
    screen.print_line((f"+++ {clean(name)} {found.after}", "bold"))
    for key, (before, after) in found.about.items():
        screen.print_line(f"{key}: {clean(str(before))} → {clean(str(after))}")
    for hunk in found.hunks:
        screen.print_line((hunk.header, "cyan"))
        for line in hunk.lines:
            sign, colour = LINE_STYLES[line.kind]
            screen.print_line((sign + clean(line.text), colour))
    screen.print_line((f"{found.added} lines added, {found.removed} removed", "dim"))


def print_indexes(screen: Screen, found: IndexStatus) -> None:
    """Print a row per index, and the progress of the one being built."""
    table = make_table("id", "state", "model", "since")
    for one in found.all:
        model = one.settings.get("embedding.model") or one.settings.get("embedding.provider", "")
        table.add_row(str(one.id), one.state, clean(str(model)), f"{one.switched_at or one.created_at:%Y-%m-%d %H:%M}")
    screen.print_table(table)
    if found.building:
        screen.print_line(f"{found.building.built} of {found.building.documents} documents are built")
    elif found.wanting:
        screen.print_line("the settings require a new index; build it with: pincite reindex")
