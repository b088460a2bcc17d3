"""Share links in a terminal."""

from collections.abc import Sequence

from rich.text import Text

from pincite.cli.view.screen import Screen, make_table, shorten
from pincite.core.accounts.conversations import Share


def print_shares(screen: Screen, shares: Sequence[Share]) -> None:
    """Print a line for each link."""
    if not shares:
        screen.print_line("There are no share links; create one with: POST /api/v1/shares")
        return
    table = make_table("reference", "user", "answer", "made on", "until")
    for share in shares:
        made, until = f"{share.created_at:%Y-%m-%d}", f"{share.expires_at:%Y-%m-%d}"
        table.add_row(share.id, Text(shorten(share.owner, 20)), Text(share.answer_id), made, until)
    screen.print_table(table, drop_first=("made on", "answer"))
