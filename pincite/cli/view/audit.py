"""The audit log in a terminal."""

from collections.abc import Sequence

from rich.text import Text

from pincite.cli.output import one_line
from pincite.cli.view.library import format_time
from pincite.cli.view.screen import Screen, make_table, shorten, styled
from pincite.core.accounts.audit import AuditEvent


def print_events(screen: Screen, events: Sequence[AuditEvent]) -> None:
    """Print a line for each event."""
    if not events:
        screen.print_line("There are no matching events.")
        return
    subject_columns = max(12, screen.columns - 6 - 20 - 15 - 12 - 8 - 5 * 2)
    table = make_table(">#", "when", "event", "who", "what", "")
    for one in events:
        who, what = (
            Text(shorten(one_line(one.person or "-"), 12)),
            Text(shorten(one_line(one.subject or ""), subject_columns)),
        )
        went = styled(one.outcome, "red") if one.outcome != "done" else Text(one_line(one.address))
        table.add_row(str(one.number), format_time(one.at), styled(one.event), who, what, went)
    screen.print_table(table, drop_first=("when",))
