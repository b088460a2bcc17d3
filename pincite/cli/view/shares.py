"""Shared answers in a terminal."""

from collections.abc import Sequence

from rich.text import Text

from pincite.cli.view.screen import Screen, grid, shorten
from pincite.core.accounts.conversations import Share


def print_shares(screen: Screen, shares: Sequence[Share]) -> None:
    """Print a line for each link."""
    if not shares:
        screen.say("No answer is shared by link; one is with: POST /api/v1/shares")
        return
    table = grid("reference", "user", "answer", "made on", "until")
    for share in shares:
        made, until = f"{share.created_at:%Y-%m-%d}", f"{share.expires_at:%Y-%m-%d}"
        table.add_row(share.id, Text(shorten(share.owner, 20)), Text(share.answer_id), made, until)
    screen.table(table, give_way=("made on", "answer"))
