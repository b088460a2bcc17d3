"""The audit log: list, verify."""

from typing import Annotated

import typer

from pincite.cli.command import CommandContext, command
from pincite.cli.output import print_json, print_plain
from pincite.text.counts import count


def register(app: typer.Typer) -> None:
    """Make these a group of commands of `app`."""
    group = typer.Typer(help="The audit log: list, verify.", rich_markup_mode=None)
    command(group, "list")(list_events)
    command(group, "verify")(verify)
    app.add_typer(group, name="audit")


async def list_events(
    context: CommandContext,
    event: Annotated[
        str | None, typer.Option("--event", metavar="E", help="Only these: login, user, user.add, document …")
    ] = None,
    person: Annotated[str | None, typer.Option("--person", metavar="U", help="Only what a user did or met.")] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="T", help="Only since then: 30m, 2h, 7d, or an ISO date and time.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1000, help="How many, newest first.")] = 50,
) -> None:
    """List what was done, newest first: logins, keys, users, rights, documents, settings, backups."""
    from pincite.cli.traces import parse_since
    from pincite.cli.view.audit import print_events
    from pincite.cli.view.screen import Screen
    from pincite.core.accounts.access import LOCAL
    from pincite.core.accounts.audit import AuditFilter
    from pincite.serialize.accounts import audit_event_json
    from pincite.serialize.primitives import page_json

    wanted = AuditFilter(event, person, parse_since(since) if since else None, limit)
    async with context.open() as pincite:
        found, following = await pincite.admin.audit.list(LOCAL.person, wanted)
    if context.json:
        print_json(page_json([audit_event_json(one) for one in found], following))
    else:
        print_events(Screen(), found)


async def verify(
    context: CommandContext,
    head: Annotated[
        str | None, typer.Option("--head", metavar="N:HASH", help="A head printed before, which must be in the chain.")
    ] = None,
) -> None:
    """Check that no event was changed, removed or cut off; exit code 1 if one was.

    Each event's hash covers the one before it, and the last is kept apart. Whoever owns the database can write all of
    that anew: to notice it, keep the printed head somewhere else and give it to the next check with --head.
    """
    from pincite.core.accounts.access import LOCAL
    from pincite.core.accounts.audit import read_anchor
    from pincite.serialize.accounts import chain_check_json

    known = None if head is None else read_anchor(head)
    async with context.open() as pincite:
        found = await pincite.admin.audit.verify(LOCAL.person, known)
    if context.json:
        print_json(chain_check_json(found))
    elif found.fault is None:
        print_plain(f"{count(found.reached.number, 'event')}, all as they were written; the head is {found.reached}")
    else:
        print_plain(f"the audit log does not hold: {found.fault}")
    if found.fault is not None:
        raise typer.Exit(1)
