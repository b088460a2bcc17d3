"""Commands for the knowledge graph: find, show, path."""

from typing import Annotated

import typer

from pincite.cli.command import CommandContext, command
from pincite.cli.output import print_json

EntityArgument = Annotated[str, typer.Argument(metavar="ENTITY", help="The id of an entity, or its name.")]


def register(app: typer.Typer) -> None:
    """Register these commands as a group of `app`."""
    group = typer.Typer(help="The knowledge graph: find entities, show one, join two.", rich_markup_mode=None)
    command(group, "find")(find)
    command(group, "show")(show)
    command(group, "path")(path)
    app.add_typer(group, name="graph")


async def find(
    context: CommandContext,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name, or a part of one.")],
    limit: Annotated[int, typer.Option("--limit", min=1, max=100, help="Maximum number of entities.")] = 20,
) -> None:
    """Find entities by a part of their name, the most mentioned first."""
    from pincite.cli.view.graph import print_entities
    from pincite.cli.view.screen import Screen
    from pincite.serialize.search import node_json

    async with context.open() as pincite:
        found = await pincite.graph.find(name, limit=limit)
    if context.json:
        print_json({"items": [node_json(one) for one in found]})
    else:
        print_entities(Screen(), found)


async def show(context: CommandContext, entity: EntityArgument) -> None:
    """Show an entity: its facts with the sentences that state them, its mentions and its neighbours."""
    from pincite.cli.view.graph import print_entity
    from pincite.cli.view.screen import Screen
    from pincite.serialize.search import entity_json

    async with context.open() as pincite:
        card = await pincite.graph.entity(entity)
    if context.json:
        print_json(entity_json(card))
    else:
        print_entity(Screen(), card)


async def path(
    context: CommandContext,
    start: Annotated[str, typer.Argument(metavar="A", help="The id or name of an entity.")],
    end: Annotated[str, typer.Argument(metavar="B", help="The id or name of another one.")],
) -> None:
    """Show the shortest path between two entities, and what states each step."""
    from pincite.cli.view.graph import print_path
    from pincite.cli.view.screen import Screen
    from pincite.serialize.search import path_json

    async with context.open() as pincite:
        steps = await pincite.graph.path(start, end)
    if context.json:
        print_json(path_json(steps))
    else:
        print_path(Screen(), steps)
