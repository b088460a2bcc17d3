"""Commands for users, groups and access: user, group, share."""

from typing import Annotated

import typer

from pincite.cli.command import CommandContext, check_choice, command
from pincite.cli.output import print_json, print_plain
from pincite.text.units import count

UserArgument = Annotated[str, typer.Argument(metavar="NAME", help="A user's name.")]
GroupArgument = Annotated[str, typer.Argument(metavar="GROUP", help="A group's name.")]


def register(app: typer.Typer) -> None:
    """Register the groups `user` and `group`, and the command `share`, with `app`."""
    users = typer.Typer(help="Users: add, list, show, role, limit, suspend, resume, remove.", rich_markup_mode=None)
    command(users, "add")(add)
    command(users, "list")(list_users)
    command(users, "show")(show)
    command(users, "role")(role)
    command(users, "limit")(limit)
    command(users, "suspend")(suspend)
    command(users, "resume")(resume)
    command(users, "remove")(remove)
    app.add_typer(users, name="user")
    groups = typer.Typer(help="Groups of users: add, list, join, leave, remove.", rich_markup_mode=None)
    command(groups, "add")(add_group)
    command(groups, "list")(list_groups)
    command(groups, "join")(join)
    command(groups, "leave")(leave)
    command(groups, "remove")(remove_group)
    app.add_typer(groups, name="group")
    command(app, "share", ids=True)(share)


async def add(
    context: CommandContext,
    name: UserArgument,
    role: Annotated[str, typer.Option("--role", metavar="R", help="administrator, editor, or reader.")] = "reader",
) -> None:
    """Add a user; create a key for them with: pincite key create --user NAME --name PURPOSE."""
    from pincite.core.accounts.users import PersonRole
    from pincite.serialize.accounts import user_json

    chosen_role = check_choice(PersonRole, role, "role")
    async with context.open() as pincite:
        made = await pincite.admin.add_user(name, chosen_role)
    if context.json:
        print_json(user_json(made))
    else:
        print_plain(
            f"added {made.name} ({made.role}); create a key for them: pincite key create --user {made.name} --name …"
        )


async def list_users(context: CommandContext) -> None:
    """List the users."""
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.users import print_people
    from pincite.core.accounts.access import LOCAL
    from pincite.serialize.accounts import user_json
    from pincite.serialize.primitives import page_json

    async with context.open() as pincite:
        found = await pincite.admin.users.all(LOCAL.person)
    if context.json:
        print_json(page_json([user_json(one) for one in found]))
    else:
        print_people(Screen(), found)


async def show(context: CommandContext, name: UserArgument) -> None:
    """Show a user's usage and limits."""
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.users import print_usage
    from pincite.core.accounts.access import LOCAL
    from pincite.serialize.accounts import usage_json, user_json

    async with context.open() as pincite:
        known = await pincite.admin.users.get(LOCAL.person, name)
        usage = await usage_json(pincite.admin.quotas, LOCAL.person, known.id)
    if context.json:
        print_json(user_json(known) | usage)
    else:
        print_usage(Screen(), known, usage)


async def limit(
    context: CommandContext,
    name: UserArgument,
    what: Annotated[str, typer.Argument(metavar="LIMIT", help="A limit, such as storage_mb; `user show` lists them.")],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="A number, 0 for unlimited, or `default`.")],
) -> None:
    """Set a limit for one user, instead of the one in the settings."""
    from pincite.core.accounts.access import LOCAL
    from pincite.errors import Invalid

    if value != "default" and not (value.isascii() and value.isdecimal() and len(value) <= 12):
        raise Invalid(
            "give the limit as a number of at most 12 digits; 0 means unlimited, `default` the value of the settings"
        )
    number = None if value == "default" else int(value)
    async with context.open() as pincite:
        known = await pincite.admin.users.get(LOCAL.person, name)
        await pincite.admin.set_limits(known.id, {what: number})
    text = "the value of the settings" if number is None else f"{number:,}" if number else "unlimited"
    _print_result(context, known.id, f"{known.name}: {what} is {text}", limits={what: number})


async def role(
    context: CommandContext,
    name: UserArgument,
    role: Annotated[str, typer.Argument(metavar="ROLE", help="administrator, editor, or reader.")],
) -> None:
    """Change a user's role; it also bounds the roles of their keys."""
    from pincite.core.accounts.access import LOCAL
    from pincite.core.accounts.users import PersonRole

    chosen_role = check_choice(PersonRole, role, "role")
    async with context.open() as pincite:
        changed = await pincite.admin.users.change_role(LOCAL.person, name, chosen_role)
    _print_result(context, changed.id, f"{changed.name} has the role {changed.role} now", role=changed.role)


async def suspend(context: CommandContext, name: UserArgument) -> None:
    """Suspend a user; their documents and keys stay."""
    from pincite.core.accounts.access import LOCAL

    async with context.open() as pincite:
        changed = await pincite.admin.users.suspend(LOCAL.person, name, suspended=True)
    _print_result(context, changed.id, f"{changed.name} is suspended; resume with: pincite user resume", suspended=True)


async def resume(context: CommandContext, name: UserArgument) -> None:
    """Resume a suspended user."""
    from pincite.core.accounts.access import LOCAL

    async with context.open() as pincite:
        changed = await pincite.admin.users.suspend(LOCAL.person, name, suspended=False)
    _print_result(context, changed.id, f"{changed.name} is no longer suspended", suspended=False)


async def remove(
    context: CommandContext,
    name: UserArgument,
    to: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="U", help="Transfer their documents to this user, into a folder named after them."
        ),
    ] = None,
) -> None:
    """Remove a user with their keys and sessions.

    A user who owns documents is removed only with --to.
    """
    from pincite.core.accounts.access import LOCAL

    async with context.open() as pincite:
        transferred = await pincite.admin.hand_over(name, to) if to is not None else 0
        removed = await pincite.admin.users.remove(LOCAL.person, name)
    note = f"; {to} has {count(transferred, 'document')} of theirs" if to is not None else ""
    _print_result(context, removed.id, f"removed {removed.name}{note}", removed=True, documents=transferred)


async def add_group(context: CommandContext, group: GroupArgument) -> None:
    """Add a group."""
    from pincite.core.accounts.access import LOCAL

    async with context.open() as pincite:
        made = await pincite.admin.users.add_group(LOCAL.person, group)
    _print_result(context, made.id, f"added {made.name}", name=made.name, members=list(made.members))


async def list_groups(context: CommandContext) -> None:
    """List the groups and their members."""
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.users import print_groups
    from pincite.core.accounts.access import LOCAL
    from pincite.serialize.accounts import group_json
    from pincite.serialize.primitives import page_json

    async with context.open() as pincite:
        found = await pincite.admin.users.groups(LOCAL.person)
    if context.json:
        print_json(page_json([group_json(one) for one in found]))
    else:
        print_groups(Screen(), found)


async def join(context: CommandContext, group: GroupArgument, name: UserArgument) -> None:
    """Add a user to a group."""
    from pincite.core.accounts.access import LOCAL

    async with context.open() as pincite:
        changed = await pincite.admin.users.join(LOCAL.person, group, name)
    _print_result(
        context, changed.id, f"{changed.name}: {count(len(changed.members), 'member')}", members=list(changed.members)
    )


async def leave(context: CommandContext, group: GroupArgument, name: UserArgument) -> None:
    """Remove a user from a group."""
    from pincite.core.accounts.access import LOCAL

    async with context.open() as pincite:
        changed = await pincite.admin.users.leave(LOCAL.person, group, name)
    _print_result(
        context, changed.id, f"{changed.name}: {count(len(changed.members), 'member')}", members=list(changed.members)
    )


async def remove_group(context: CommandContext, group: GroupArgument) -> None:
    """Remove a group, and with it the access it gives."""
    from pincite.core.accounts.access import LOCAL

    async with context.open() as pincite:
        removed = await pincite.admin.users.remove_group(LOCAL.person, group)
    _print_result(context, removed.id, f"removed {removed.name}", removed=True)


async def share(
    context: CommandContext,
    what: Annotated[str, typer.Argument(metavar="ID", help="A document's id, or with --folder a folder's path.")],
    user: Annotated[list[str] | None, typer.Option("--user", metavar="U", help="A user who may read it.")] = None,
    group: Annotated[list[str] | None, typer.Option("--group", metavar="G", help="A group that may read it.")] = None,
    role: Annotated[
        list[str] | None,
        typer.Option("--role", metavar="R", help="A role whose users may read it: reader, editor or administrator."),
    ] = None,
    everyone: Annotated[bool, typer.Option("--everyone", help="Every user may read it.")] = False,
    folder: Annotated[
        bool, typer.Option("--folder", help="ID is a folder; share it with its contents and subfolders.")
    ] = False,
    inherit: Annotated[bool, typer.Option("--inherit", help="Inherit the access of the folder above.")] = False,
    nobody: Annotated[bool, typer.Option("--nobody", help="Nobody else may read it.")] = False,
) -> None:
    """Set who may read a document or a folder besides you; this replaces earlier shares.

    Without an option, show who may read it.
    """
    from pincite.cli.documents import find_document
    from pincite.cli.view.library import format_readers
    from pincite.core.accounts.access import ReaderRole, ShareRequest
    from pincite.core.documents.document import Document, Folder
    from pincite.errors import Invalid
    from pincite.ingest.accept.accept import clean_folder
    from pincite.serialize.documents import document_json, folder_json

    named = bool(user or group or role or everyone)
    if named + inherit + nobody > 1:
        raise Invalid("--inherit and --nobody cannot be combined with other options that say who may read")
    roles = tuple(found for one in role or () if (found := check_choice(ReaderRole, one, "role")))
    request = None if inherit else ShareRequest(tuple(user or ()), tuple(group or ()), everyone, roles)
    if folder and not clean_folder(what):
        raise Invalid("name a folder, such as hr/rules; the top of the library is not a folder")
    async with context.open() as pincite:
        changed = named or inherit or nobody
        if folder:
            what = clean_folder(what)
            if changed:
                await pincite.documents.share_folder(what, request)
            shared: Document | Folder = await pincite.documents.folders.get(await pincite.scope(), what)
        else:
            document = await find_document(pincite, what)
            what = document.id
            shared = await pincite.documents.share(what, request) if changed else document
    if context.json:
        print_json(folder_json(shared) if isinstance(shared, Folder) else document_json(shared))
    else:
        print_plain(f"{what}: {format_readers(shared.access)}")


def _print_result(context: CommandContext, item_id: str, line: str, **fields: object) -> None:
    if context.json:
        print_json({"id": item_id, **fields})
    else:
        print_plain(line)
