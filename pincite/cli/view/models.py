"""Shipped models in a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from pincite.cli.view.screen import Screen, styled
from pincite.text.units import size


def print_models(screen: Screen, models: Sequence[Mapping[str, Any]]) -> None:
    """Print each model with its card."""
    for number, model in enumerate(models):
        if number:
            screen.print_line()
        state = "in use" if model["in_use"] else "not in use"
        screen.print_line((f"{model['name']} {model['version']}", "bold"), f"  {state}")
        for text in (
            f"{model['task']}; {' and '.join(model['languages'])}; {size(model['bytes'])}",
            f"licence: {model['licence']}",
            f"made from: {model['made_from']}",
        ):
            screen.print_wrapped(styled(text), indent=2)
