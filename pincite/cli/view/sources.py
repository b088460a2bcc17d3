"""Sources in a terminal."""

from collections.abc import Sequence

from pincite.cli.view.screen import Screen, join_text, make_table, styled
from pincite.core.documents.sources import SourceResult, StoredSource

STATE_STYLES = {"ok": "green", "failed": "red", "running": "yellow", "new": "dim"}


def print_sources(screen: Screen, sources: Sequence[StoredSource]) -> None:
    """Print a table with a row per source, and the last error of each."""
    if not sources:
        screen.print_line("There are no sources; add one with: pincite source add KIND URL --name NAME")
        return
    table = make_table("name", "kind", "url", "state", ">documents", "last run")
    for source in sources:
        table.add_row(
            source.name,
            source.kind,
            source.url,
            join_text((source.state, STATE_STYLES[source.state])),
            f"{source.documents:,}",
            source.finished_at.strftime("%Y-%m-%d %H:%M") if source.finished_at else "never",
        )
    screen.print_table(table, drop_first=("url",))
    for source in sources:
        if source.error:
            screen.print_wrapped(styled(f"{source.name}: {source.error}", "red"))


def print_result(screen: Screen, result: SourceResult) -> None:
    """Print the files that were refused, then the counts."""
    for name, reason in result.refused:
        screen.print_wrapped(styled(f"failed  {name}: {reason}", "red"))
    screen.print_line(
        f"{result.added:,} added, {result.updated:,} updated, {result.unchanged:,} unchanged, {result.removed:,} removed"
    )
