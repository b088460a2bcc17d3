"""People and groups, and who may read what: user, group, share."""

from typing import Annotated, Any

import typer

from pincite.cli.command import CommandContext, check_choice, command
from pincite.cli.output import print_json, print_plain
from pincite.text.counts import count

UserArgument = Annotated[str, typer.Argument(metavar="NAME", help="A user's name.")]
GroupArgument = Annotated[str, typer.Argument(metavar="GROUP", help="A group's name.")]


def register(app: typer.Typer) -> None:
    """Make these groups of commands, and `share`, commands of `app`."""
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
    """Add a user; they come in with a key: pincite key create --user NAME --name WHAT-FOR."""
    from pincite.core.accounts.users import PersonRole
    from pincite.serialize.accounts import user_json

    given = check_choice(PersonRole, role, "role")
    async with context.open() as pincite:
        made = await pincite.admin.add_user(name, given)
    if context.json:
        print_json(user_json(made))
    else:
        print_plain(f"added {made.name} ({made.role}); a key for them: pincite key create --user {made.name} --name …")


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
    """Show a user: what they use, and how much they may."""
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.users import print_usage
    from pincite.core.accounts.access import LOCAL
    from pincite.serialize.accounts import usage_json, user_json

    async with context.open() as pincite:
        known = await pincite.admin.users.get(LOCAL.person, name)
        told = await usage_json(pincite.admin.quotas, LOCAL.person, known.id)
    if context.json:
        print_json(user_json(known) | told)
    else:
        print_usage(Screen(), known, told)


async def limit(
    context: CommandContext,
    name: UserArgument,
    what: Annotated[str, typer.Argument(metavar="LIMIT", help="Such as storage_mb; `user show` names them.")],
    most: Annotated[str, typer.Argument(metavar="MOST", help="A number, 0 for any number, or `default`.")],
) -> None:
    """Give a user a limit of their own, instead of what the settings say for everybody."""
    from pincite.core.accounts.access import LOCAL
    from pincite.errors import Invalid

    if most != "default" and not (most.isascii() and most.isdecimal() and len(most) <= 12):
        raise Invalid("say how much they may as a number; 0 is as much as they like, `default` what the settings say")
    given = None if most == "default" else int(most)
    async with context.open() as pincite:
        known = await pincite.admin.users.get(LOCAL.person, name)
        await pincite.admin.set_limits(known.id, {what: given})
    said = "as the settings have it" if given is None else f"{given:,}" if given else "as much as they like"
    _print_result(context, known.id, f"{known.name}: {what} is {said}", limits={what: given})


async def role(
    context: CommandContext,
    name: UserArgument,
    role: Annotated[str, typer.Argument(metavar="ROLE", help="administrator, editor, or reader.")],
) -> None:
    """Give a user another role; their keys are worth no more than it."""
    from pincite.core.accounts.access import LOCAL
    from pincite.core.accounts.users import PersonRole

    given = check_choice(PersonRole, role, "role")
    async with context.open() as pincite:
        changed = await pincite.admin.users.change_role(LOCAL.person, name, given)
    _print_result(context, changed.id, f"{changed.name} is {changed.role} now", role=changed.role)


async def suspend(context: CommandContext, name: UserArgument) -> None:
    """Keep a user out until further notice; what is theirs stays."""
    from pincite.core.accounts.access import LOCAL

    async with context.open() as pincite:
        changed = await pincite.admin.users.suspend(LOCAL.person, name, suspended=True)
    _print_result(
        context, changed.id, f"{changed.name} is suspended; let them in again with: pincite user resume", suspended=True
    )


async def resume(context: CommandContext, name: UserArgument) -> None:
    """Let a suspended user in again."""
    from pincite.core.accounts.access import LOCAL

    async with context.open() as pincite:
        changed = await pincite.admin.users.suspend(LOCAL.person, name, suspended=False)
    _print_result(context, changed.id, f"{changed.name} may come in", suspended=False)


async def remove(
    context: CommandContext,
    name: UserArgument,
    to: Annotated[
        str | None, typer.Option("--to", metavar="U", help="Who gets their documents, in a folder of that name.")
    ] = None,
) -> None:
    """Remove a user with their keys and conversations; one who owns documents stays, unless these are given to somebody."""
    from pincite.core.accounts.access import LOCAL

    async with context.open() as pincite:
        handed = await pincite.admin.hand_over(name, to) if to is not None else 0
        gone = await pincite.admin.users.remove(LOCAL.person, name)
    told = f"; {to} has {count(handed, 'document')} of theirs" if to is not None else ""
    _print_result(context, gone.id, f"removed {gone.name}{told}", removed=True, documents=handed)


async def add_group(context: CommandContext, group: GroupArgument) -> None:
    """Add a group."""
    from pincite.core.accounts.access import LOCAL

    async with context.open() as pincite:
        made = await pincite.admin.users.add_group(LOCAL.person, group)
    _print_result(context, made.id, f"added {made.name}", name=made.name, members=list(made.members))


async def list_groups(context: CommandContext) -> None:
    """List the groups and who is in them."""
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
    """Put a user into a group."""
    from pincite.core.accounts.access import LOCAL

    async with context.open() as pincite:
        changed = await pincite.admin.users.join(LOCAL.person, group, name)
    _print_result(
        context, changed.id, f"{changed.name}: {count(len(changed.members), 'member')}", members=list(changed.members)
    )


async def leave(context: CommandContext, group: GroupArgument, name: UserArgument) -> None:
    """Take a user out of a group."""
    from pincite.core.accounts.access import LOCAL

    async with context.open() as pincite:
        changed = await pincite.admin.users.leave(LOCAL.person, group, name)
    _print_result(
        context, changed.id, f"{changed.name}: {count(len(changed.members), 'member')}", members=list(changed.members)
    )


async def remove_group(context: CommandContext, group: GroupArgument) -> None:
    """Remove a group: nobody reads anything by it any more."""
    from pincite.core.accounts.access import LOCAL

    async with context.open() as pincite:
        gone = await pincite.admin.users.remove_group(LOCAL.person, group)
    _print_result(context, gone.id, f"removed {gone.name}", removed=True)


async def share(
    context: CommandContext,
    what: Annotated[str, typer.Argument(metavar="ID", help="A document's id, or with --folder a folder's path.")],
    user: Annotated[list[str] | None, typer.Option("--user", metavar="U", help="A user who may read it.")] = None,
    group: Annotated[list[str] | None, typer.Option("--group", metavar="G", help="A group that may read it.")] = None,
    everyone: Annotated[bool, typer.Option("--everyone", help="Everyone who may come in reads it.")] = False,
    folder: Annotated[bool, typer.Option("--folder", help="A folder, with all that lies in it and below it.")] = False,
    inherit: Annotated[bool, typer.Option("--inherit", help="As the folder it lies in has it.")] = False,
) -> None:
    """Say who may read a document or a folder besides you: those named, and no others."""
    from pincite.core.accounts.access import ShareRequest
    from pincite.errors import Invalid
    from pincite.ingest.accept.accept import clean_folder
    from pincite.serialize.documents import document_json, folder_json

    if inherit and (user or group or everyone):
        raise Invalid("--inherit goes alone: who may read it is then said by the folder")
    wish = None if inherit else ShareRequest(tuple(user or ()), tuple(group or ()), everyone)
    if folder and not clean_folder(what):
        raise Invalid("name a folder, such as hr/rules; the top of the library is none")
    async with context.open() as pincite:
        if folder:
            await pincite.documents.share_folder(clean_folder(what), wish)
            told = folder_json(await pincite.documents.folders.get(await pincite.scope(), clean_folder(what)))
        else:
            told = document_json(await pincite.documents.share(what, wish))
    if context.json:
        print_json(told)
    else:
        print_plain(f"{what}: {_format_readers(told['access'])}")


def _format_readers(access: dict[str, Any] | None) -> str:
    if access is None:
        return "as the folder above has it"
    if access["everyone"]:
        return "everyone may read it"
    named = [*access["users"], *(f"group {name}" for name in access["groups"])]
    return f"{', '.join(map(str, named))} may read it" if named else "nobody else may read it"


def _print_result(context: CommandContext, thing: str, line: str, **shape: object) -> None:
    if context.json:
        print_json({"id": thing, **shape})
    else:
        print_plain(line)
