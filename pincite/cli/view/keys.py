"""API keys in a terminal."""

from collections.abc import Sequence
from datetime import UTC, datetime

from rich.text import Text

from pincite.cli.view.screen import Screen, make_table, shorten, styled
from pincite.core.accounts.users import ApiKey


def print_keys(screen: Screen, keys: Sequence[ApiKey]) -> None:
    """Print a line per key."""
    if not keys:
        screen.print_line("There are no keys; create one with: pincite key create --name NAME")
        return
    room = max(8, screen.columns - 16 - 13 - 13 - 10 - 18 - 5 * 2)
    table = make_table("id", "name", "user", "role", "made on", "")
    for key in keys:
        made = f"{key.created_at:%Y-%m-%d}"
        table.add_row(
            key.id, Text(shorten(key.name, room)), Text(shorten(key.user, 13)), key.role, made, _format_state(key)
        )
    screen.print_table(table, drop_first=("made on", "role"))


def _format_state(key: ApiKey) -> Text:
    if key.revoked_at is not None:
        return styled("revoked", "red")
    if key.expires_at is None:
        return styled("valid", "green")
    if key.expires_at <= datetime.now(UTC):
        return styled("expired", "red")
    return styled(f"until {key.expires_at:%Y-%m-%d}", "green")
