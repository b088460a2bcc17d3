"""Commands for prompts: list, show."""

from typing import Annotated

import typer

from pincite.cli.command import CommandContext, command
from pincite.cli.output import clean, print_json, print_plain

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The prompt's name, such as default/system.")]


def register(app: typer.Typer) -> None:
    """Register these commands as a group of `app`."""
    group = typer.Typer(help="Prompts for the model, shipped or your own.", rich_markup_mode=None)
    command(group, "list")(list_prompts)
    command(group, "show")(show)
    app.add_typer(group, name="prompts")


async def list_prompts(context: CommandContext) -> None:
    """List the prompts; your own are files of the same name in `prompts/` of the data folder."""
    from pincite.query.prompt.templates import REQUIRED_PLACEHOLDERS, template

    found = [template(name, context.settings.data) for name in REQUIRED_PLACEHOLDERS]
    if context.json:
        print_json({"items": [{"name": one.name, "own": one.custom} for one in found], "next_cursor": None})
        return
    for one in found:
        print_plain(f"{one.name:20} {'your own' if one.custom else 'shipped'}")


async def show(context: CommandContext, name: NameArgument) -> None:
    """Print the current text of a prompt; redirect it to a file to write your own."""
    from pincite.query.prompt.templates import template

    found = template(name, context.settings.data)
    if context.json:
        print_json({"name": found.name, "own": found.custom, "text": found.text})
    else:
        print_plain(clean(found.text))
