"""Commands for flows: run a flow from a file or by name; store, list, show and remove flows."""

import json
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from pincite.cli.command import CommandContext, command
from pincite.cli.output import print_json
from pincite.errors import Invalid

SUFFIXES = (".json", ".yaml", ".yml", ".toml")
"""Endings of flow files; anything else is the name of a stored flow."""
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name of the flow.")]
VersionOption = Annotated[
    int | None, typer.Option("--version", metavar="N", help="A version of the stored flow, instead of the newest.")
]


def register(app: typer.Typer) -> None:
    """Register these commands as a group of `app`."""
    group = typer.Typer(help="Flows: graphs of nodes that search, read and write.", rich_markup_mode=None)
    command(group, "run")(run)
    command(group, "save")(save)
    command(group, "list")(list_flows)
    command(group, "show")(show)
    command(group, "remove")(remove)
    app.add_typer(group, name="flow")


async def run(
    context: CommandContext,
    flow: Annotated[
        str, typer.Argument(metavar="FLOW", help="A .json, .yaml or .toml file, or the name of a stored flow.")
    ],
    input_text: Annotated[
        str | None, typer.Option("--input", metavar="TEXT", help="The input text, instead of the flow's own.")
    ] = None,
    version: VersionOption = None,
) -> None:
    """Run a flow and print its answer with its sources; see docs/flows.md."""
    from pincite.cli.ask import silence_degradation_log
    from pincite.cli.view.answer import print_answer
    from pincite.cli.view.screen import Screen, waiting
    from pincite.flows.graph import stored_flow
    from pincite.serialize.answers import answer_json

    is_file = Path(flow).suffix in SUFFIXES
    chosen = stored_flow(load_flow_file(Path(flow)), input_text) if is_file else flow
    with silence_degradation_log():
        async with context.open() as pincite:
            with waiting("running …"):
                answer = await pincite.run_flow(chosen, None if is_file else input_text, version=version)
    if context.json:
        print_json(answer_json(answer))
    else:
        print_answer(Screen(), answer)


async def save(
    context: CommandContext,
    name: NameArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The flow: a .json, .yaml or .toml file.")],
) -> None:
    """Store a flow under a name, as its newest version; an unchanged flow makes no new version."""
    from pincite.cli.view.screen import Screen
    from pincite.serialize.flows import stored_flow_json

    definition = load_flow_file(file)
    async with context.open() as pincite:
        stored = await pincite.save_flow(name, definition)
    if context.json:
        print_json(stored_flow_json(stored))
    else:
        Screen().print_line(
            f"{stored.name} is stored as version {stored.version}; run it: pincite flow run {stored.name}"
        )


async def list_flows(context: CommandContext) -> None:
    """List your stored flows with their newest versions."""
    from pincite.cli.view.flows import print_flows
    from pincite.cli.view.screen import Screen
    from pincite.serialize.flows import stored_flow_json

    async with context.open() as pincite:
        found = await pincite.flows()
    if context.json:
        print_json({"flows": [stored_flow_json(one, whole=False) for one in found]})
    else:
        print_flows(Screen(), found)


async def show(context: CommandContext, name: NameArgument, version: VersionOption = None) -> None:
    """Show a stored flow: its definition as JSON, and its versions."""
    from pincite.cli.view.flows import print_flow
    from pincite.cli.view.screen import Screen
    from pincite.serialize.flows import stored_flow_json

    async with context.open() as pincite:
        stored = await pincite.questions.flows.get(await pincite.scope(), name, version)
        versions = await pincite.flow_versions(name)
    if context.json:
        print_json(stored_flow_json(stored))
    else:
        print_flow(Screen(), stored, versions)


async def remove(context: CommandContext, name: NameArgument) -> None:
    """Remove a stored flow with all its versions."""
    from pincite.cli.view.screen import Screen
    from pincite.text.units import count

    async with context.open() as pincite:
        versions = await pincite.remove_flow(name)
    if context.json:
        print_json({"removed": name, "versions": versions})
    else:
        Screen().print_line(f"{name} is removed, with {count(versions, 'version')}")


def load_flow_file(file: Path) -> Any:
    """Parse a flow file by its suffix: TOML, YAML or JSON."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"{file} cannot be read: {error}") from None
    try:
        if file.suffix == ".toml":
            return tomllib.loads(text)
        return _load_yaml(text) if file.suffix in (".yaml", ".yml") else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"{file} is not valid: {error}") from None


def _load_yaml(text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None
