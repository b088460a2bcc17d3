"""The command models: the models shipped with pincite, with their licences."""

import typer

from pincite.cli.command import CommandContext, command
from pincite.cli.output import print_json


def register(app: typer.Typer) -> None:
    """Register this command with `app`."""
    command(app, "models")(models)


async def models(context: CommandContext) -> None:
    """List the models shipped with pincite: version, task, languages, licence, size, and whether they are in use."""
    from pincite.cli.view.models import print_models
    from pincite.cli.view.screen import Screen
    from pincite.models.shipped import models_in_use, shipped_models

    used = models_in_use(context.settings)
    found = [
        {
            "name": model.name,
            "version": model.version,
            "task": model.task,
            "languages": list(model.languages),
            "licence": model.licence,
            "made_from": model.made_from,
            "bytes": model.size,
            "checksums": dict(model.checksums),
            "in_use": model.name in used,
        }
        for model in shipped_models()
    ]
    if context.json:
        print_json({"models": found})
    else:
        print_models(Screen(), found)
