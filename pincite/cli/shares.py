"""Commands for share links of answers: list, remove."""

from typing import Annotated

import typer

from pincite.cli.command import CommandContext, command
from pincite.cli.documents import match_id
from pincite.cli.output import print_json, print_plain


def register(app: typer.Typer) -> None:
    """Register these commands as a group of `app`."""
    group = typer.Typer(help="Share links of answers: list, remove.", rich_markup_mode=None)
    command(group, "list")(list_shares)
    command(group, "remove")(remove)
    app.add_typer(group, name="shares")


async def list_shares(context: CommandContext) -> None:
    """List the valid share links of all users, without their secrets."""
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.shares import print_shares
    from pincite.serialize.accounts import share_json
    from pincite.serialize.primitives import page_json

    async with context.open() as pincite:
        found = await pincite.questions.share_links.all(await pincite.scope())
    if context.json:
        print_json(page_json([share_json(share) for share in found]))
    else:
        print_shares(Screen(), found)


async def remove(
    context: CommandContext,
    reference: Annotated[
        str, typer.Argument(metavar="REFERENCE", help="The reference of a link, or its first characters (at least 4).")
    ],
) -> None:
    """Remove a share link, effective at once."""
    async with context.open() as pincite:
        scope = await pincite.scope()
        known = {share.id: share.answer_id for share in await pincite.questions.share_links.all(scope)}
        chosen = match_id(reference, known, "share", "shares list")
        await pincite.questions.share_links.remove(scope, chosen)
    if context.json:
        print_json({"reference": chosen, "removed": True})
    else:
        print_plain(f"removed {chosen}")
