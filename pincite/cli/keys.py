"""Commands for API keys of the HTTP service: create, list, revoke."""

from typing import Annotated

import typer

from pincite.cli.command import CommandContext, check_choice, command
from pincite.cli.documents import match_id
from pincite.cli.output import print_json, print_note, print_plain


def register(app: typer.Typer) -> None:
    """Register these commands as a group of `app`."""
    group = typer.Typer(help="Keys for the HTTP service: create, list, revoke.", rich_markup_mode=None)
    command(group, "create")(create)
    command(group, "list")(list_keys)
    command(group, "revoke")(revoke)
    app.add_typer(group, name="key")


async def create(
    context: CommandContext,
    name: Annotated[str, typer.Option("--name", metavar="N", help="Purpose of the key.", show_default=False)],
    user: Annotated[str | None, typer.Option("--user", metavar="U", help="The user of the key; default: you.")] = None,
    role: Annotated[
        str | None,
        typer.Option(
            "--role", metavar="R", help="administrator, editor, reader, or metrics; default: the user's role."
        ),
    ] = None,
    expires: Annotated[
        int | None,
        typer.Option("--expires", metavar="DAYS", min=1, max=3650, help="Days until it expires; default: never."),
    ] = None,
) -> None:
    """Create a key and print it once; only its hash is stored."""
    from pincite.core.accounts.access import LOCAL, Role
    from pincite.errors import Invalid

    chosen_role = check_choice(Role, role, "role")
    if not name.strip():
        raise Invalid("the name is empty; give one that says what the key is for")
    async with context.open() as pincite:
        person = await pincite.admin.users.get(LOCAL.person, user or LOCAL.person)
        role = chosen_role or person.role
        key, key_id = await pincite.admin.keys.create(person.id, name.strip(), role, expires, by=LOCAL.person)
    if context.json:
        print_json({"key": key, "id": key_id})
        return
    print_plain(key)
    until = f"expires in {expires} days" if expires else "does not expire"
    print_note(f"Store it now; it is not shown again. Its id is {key_id}; role {role}; {until}.")


async def list_keys(context: CommandContext) -> None:
    """List the keys without their secrets."""
    from pincite.cli.view.keys import print_keys
    from pincite.cli.view.screen import Screen
    from pincite.core.accounts.access import LOCAL
    from pincite.serialize.accounts import key_json
    from pincite.serialize.primitives import page_json

    async with context.open() as pincite:
        found = await pincite.admin.keys.all(LOCAL.person)
    if context.json:
        print_json(page_json([key_json(key) for key in found]))
    else:
        print_keys(Screen(), found)


async def revoke(
    context: CommandContext,
    key_id: Annotated[str, typer.Argument(metavar="ID", help="The key's id, or its first characters (at least 4).")],
) -> None:
    """Revoke a key, effective at once."""
    from pincite.core.accounts.access import LOCAL

    async with context.open() as pincite:
        known = {key.id: key.name for key in await pincite.admin.keys.all(LOCAL.person)}
        chosen = match_id(key_id, known, "key", "key list")
        await pincite.admin.keys.revoke(LOCAL.person, chosen)
    if context.json:
        print_json({"id": chosen, "revoked": True})
    else:
        print_plain(f"revoked {chosen} ({known[chosen]})")
