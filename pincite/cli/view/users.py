"""Users and groups in a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from pincite.cli.view.screen import Screen, make_table, shorten, styled
from pincite.core.accounts.users import Group, Person

MAX_NAMES_CHARS = 30
"""Maximum characters of a list of names."""


def print_people(screen: Screen, people: Sequence[Person]) -> None:
    """Print a row per user."""
    table = make_table("user", "role", "groups", ">documents", "")
    for one in people:
        groups = Text(shorten(", ".join(one.groups), MAX_NAMES_CHARS))
        state = styled("suspended", "red") if one.suspended else styled("", "green")
        table.add_row(Text(shorten(one.name, MAX_NAMES_CHARS)), one.role, groups, f"{one.documents:,}", state)
    screen.print_table(table, drop_first=("groups", "role"))


def print_usage(screen: Screen, person: Person, usage_fields: Mapping[str, Any]) -> None:
    """Print a user's usage of each limit; limits of their own are marked."""
    state = ", suspended" if person.suspended else ""
    screen.print_line((person.name, "bold"), f" ({person.role}{state})")
    usage = dict(usage_fields["usage"])
    used = {
        "documents": usage["documents"],
        "storage_mb": f"{usage['storage_bytes'] / 2**20:,.1f}",
        "jobs": usage["jobs"],
        "streams": usage["streams"],
        "tokens_per_day": f"{usage['tokens_today']:,}",
    }
    table = make_table("limit", ">used", ">maximum", "")
    for name, limit in usage_fields["limits"].items():
        own = "own" if name in usage_fields["own"] else ""
        table.add_row(name, str(used.get(name, "")), f"{limit:,}" if limit else "unlimited", own)
    screen.print_table(table)


def print_groups(screen: Screen, groups: Sequence[Group]) -> None:
    """Print a row per group."""
    if not groups:
        screen.print_line("There are no groups; add one with: pincite group add NAME")
        return
    table = make_table("group", ">members", "names")
    for one in groups:
        table.add_row(
            Text(shorten(one.name, MAX_NAMES_CHARS)),
            str(len(one.members)),
            Text(shorten(", ".join(one.members), MAX_NAMES_CHARS)),
        )
    screen.print_table(table, drop_first=("names",))
