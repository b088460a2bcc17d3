"""The audit log in a terminal."""

from collections.abc import Sequence

from rich.text import Text

from pincite.cli.output import one_line
from pincite.cli.view.library import moment
from pincite.cli.view.screen import Screen, grid, shorten, styled
from pincite.core.accounts.audit import AuditEvent


def print_events(screen: Screen, events: Sequence[AuditEvent]) -> None:
    """Print a line for each event."""
    if not events:
        screen.say("There are no such events.")
        return
    room = max(12, screen.columns - 6 - 20 - 15 - 12 - 8 - 5 * 2)
    table = grid(">#", "when", "event", "who", "what", "")
    for one in events:
        who, what = Text(shorten(one_line(one.person or "-"), 12)), Text(shorten(one_line(one.subject or ""), room))
        went = styled(one.outcome, "red") if one.outcome != "done" else Text(one_line(one.address))
        table.add_row(str(one.number), moment(one.at), styled(one.event), who, what, went)
    screen.table(table, give_way=("when",))
