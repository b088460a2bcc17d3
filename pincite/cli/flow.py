"""Commands for flows: run a flow from a file."""

import json
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from pincite.cli.command import CommandContext, command
from pincite.cli.output import print_json
from pincite.errors import Invalid


def register(app: typer.Typer) -> None:
    """Register these commands as a group of `app`."""
    group = typer.Typer(help="Flows: graphs of nodes that search, read and write.", rich_markup_mode=None)
    command(group, "run")(run)
    app.add_typer(group, name="flow")


async def run(
    context: CommandContext,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The flow: a .json, .yaml or .toml file.")],
    input_text: Annotated[
        str | None, typer.Option("--input", metavar="TEXT", help="The input text, instead of the one in the file.")
    ] = None,
) -> None:
    """Run a flow and print its answer with its sources; see docs/flows.md."""
    from pincite.cli.ask import silence_degradation_log
    from pincite.cli.view.answer import print_answer
    from pincite.cli.view.screen import Screen, waiting
    from pincite.flows.graph import read_flow
    from pincite.serialize.answers import answer_json

    data = load_flow_file(file)
    flow = read_flow({**data, "input": input_text} if input_text is not None and isinstance(data, dict) else data)
    with silence_degradation_log():
        async with context.open() as pincite:
            with waiting("running …"):
                answer = await pincite.questions.run_flow(flow)
    if context.json:
        print_json(answer_json(answer))
    else:
        print_answer(Screen(), answer)


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
