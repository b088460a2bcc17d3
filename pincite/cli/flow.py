"""Flows: nodes that search, read and write, run from a file."""

import json
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from pincite.cli.command import CommandContext, command
from pincite.cli.output import print_json
from pincite.errors import Invalid


def register(app: typer.Typer) -> None:
    """Make these a group of commands of `app`."""
    group = typer.Typer(help="Flows: nodes that search, read and write.", rich_markup_mode=None)
    command(group, "run")(run)
    app.add_typer(group, name="flow")


async def run(
    context: CommandContext,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The flow: a .json, .yaml or .toml file.")],
    given: Annotated[
        str | None, typer.Option("--input", metavar="TEXT", help="What is asked, instead of the file's own input.")
    ] = None,
) -> None:
    """Run a flow and print its answer with the passages it stands on; see docs/flows.md."""
    from pincite.cli.ask import silence_degradation_log
    from pincite.cli.view.answer import print_answer
    from pincite.cli.view.screen import Screen, waiting
    from pincite.flows.graph import read_flow
    from pincite.serialize.answers import answer_json

    told = load_flow_file(file)
    flow = read_flow({**told, "input": given} if given is not None and isinstance(told, dict) else told)
    with silence_degradation_log():
        async with context.open() as pincite:
            with waiting("running …"):
                answer = await pincite.questions.run_flow(flow)
    if context.json:
        print_json(answer_json(answer))
    else:
        print_answer(Screen(), answer)


def load_flow_file(file: Path) -> Any:
    """What a file holds, by its ending."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"{file} cannot be read: {error}") from None
    try:
        if file.suffix == ".toml":
            return tomllib.loads(text)
        return _load_yaml(text) if file.suffix in (".yaml", ".yml") else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"{file} is not what its ending says: {error}") from None


def _load_yaml(text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None
