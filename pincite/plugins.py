"""Find an implementation by name: the name in the settings is the name of the file."""

import dataclasses
import importlib
import inspect
import pkgutil
from collections.abc import Mapping
from types import ModuleType
from typing import Any, TypeVar

from pincite.errors import SettingsError

T = TypeVar("T")

PROVIDERS = "pincite.providers"
"""The package of models: embedders, rerankers, language models."""


def load(kind: type[T], package: str, name: str, settings: Mapping[str, Any], **offered: object) -> T:
    """Build the `kind` that `<package>/<name>.py` makes; a dotted name is taken as it is.

    The module has `make_<kind>(options)`, where `options` is its `Options` dataclass, filled from the settings
    of the same names; further parameters get what the engine offers under their name, such as the embedder.
    """
    make_name = f"make_{kind.__name__.lower()}"
    module = find(kind, package, name)
    make = getattr(module, make_name, None)
    if make is None:
        known = ", ".join(names(package, make_name))
        raise SettingsError(f"'{name}' makes no {kind.__name__.lower()}; these do: {known}")
    wanted = [parameter for parameter in inspect.signature(make).parameters if parameter != "options"]
    made = make(module.Options(**options_of(module, settings)), **{name: offered[name] for name in wanted})
    if not isinstance(made, kind):
        raise SettingsError(f"{module.__name__}.{make_name} did not make a {kind.__name__}")
    return made


def options_of(module: ModuleType, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the settings that the module's `Options` knows."""
    fields = {field.name for field in dataclasses.fields(module.Options)}
    return {name: value for name, value in settings.items() if name in fields}


def find(kind: type[Any], package: str, name: str) -> ModuleType:
    """The module of this name; `SettingsError` where there is none, or where it needs what is not installed."""
    path = name if "." in name else f"{package}.{name}"
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name != path:
            raise SettingsError(f"'{name}' needs the Python package '{error.name}', which is not installed") from error
    known = ", ".join(names(package, f"make_{kind.__name__.lower()}"))
    raise SettingsError(f"there is no {kind.__name__.lower()} called '{name}'; there are: {known}")


def names(package: str, make_name: str) -> list[str]:
    """The files of a package that have this maker, found by listing the folder."""
    folder = importlib.import_module(package)
    found = (info.name for info in pkgutil.iter_modules(folder.__path__) if not info.ispkg)
    return [name for name in found if _makes(folder.__path__[0], name, make_name)]


def _makes(folder: str, name: str, make_name: str) -> bool:
    with open(f"{folder}/{name}.py", encoding="utf-8") as file:
        return f"def {make_name}(" in file.read()
