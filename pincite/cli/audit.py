"""Commands for the audit log: list, verify."""

from typing import Annotated

import typer

from pincite.cli.command import CommandContext, command
from pincite.cli.output import print_json, print_plain
from pincite.text.units import count


def register(app: typer.Typer) -> None:
    """Register these commands as a group of `app`."""
    group = typer.Typer(help="The audit log: list, verify.", rich_markup_mode=None)
    command(group, "list")(list_events)
    command(group, "verify")(verify)
    app.add_typer(group, name="audit")


async def list_events(
    context: CommandContext,
    event: Annotated[
        str | None,
        typer.Option("--event", metavar="E", help="Only events of this kind: login, user, user.add, document …"),
    ] = None,
    person: Annotated[
        str | None, typer.Option("--person", metavar="U", help="Only events by or about this user.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="T", help="Only events since: 30m, 2h, 7d, or an ISO date and time."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1000, help="Maximum number of events.")] = 50,
) -> None:
    """List audit events, newest first: logins, keys, users, permissions, documents, settings, backups."""
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
        str | None,
        typer.Option(
            "--head", metavar="N:HASH", help="The head printed by an earlier check; the chain must contain it."
        ),
    ] = None,
) -> None:
    """Check that no event was changed, removed or cut off; exit code 1 if one was.

    Each event's hash covers the previous one, and the last hash is stored separately. The owner of the database can
    rewrite all of it; to detect that, keep the printed head elsewhere and pass it to the next check with --head.
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
        print_plain(f"{count(found.reached.number, 'event')}, all unchanged; the head is {found.reached}")
    else:
        print_plain(f"the audit log is not intact: {found.fault}")
    if found.fault is not None:
        raise typer.Exit(1)
