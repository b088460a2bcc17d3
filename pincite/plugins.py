"""Load plug-ins by name: the name in the settings is the name of the module."""

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
"""The package with the embedders, rerankers and language models."""


def load(kind: type[T], package: str, name: str, settings: Mapping[str, Any], **offered: object) -> T:
    """Build a `kind` with the module `<package>/<name>.py`; a dotted name is the full path of a module.

    The module defines `make_<kind>(options)`. `options` is the module's `Options` dataclass, filled with the settings
    of the same names. Further parameters of `make_<kind>` get the objects of the same names in `offered`.
    """
    make_name = f"make_{kind.__name__.lower()}"
    module = find(kind, package, name)
    make = getattr(module, make_name, None)
    if make is None:
        known = ", ".join(names(package, make_name))
        raise SettingsError(f"'{name}' provides no {kind.__name__.lower()}; use one of: {known}")
    wanted = [parameter for parameter in inspect.signature(make).parameters if parameter != "options"]
    made = make(module.Options(**options_of(module, settings)), **{name: offered[name] for name in wanted})
    if not isinstance(made, kind):
        raise SettingsError(f"{module.__name__}.{make_name} did not make a {kind.__name__}")
    return made


def options_of(module: ModuleType, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that are fields of the module's `Options`."""
    fields = {field.name for field in dataclasses.fields(module.Options)}
    return {name: value for name, value in settings.items() if name in fields}


def find(kind: type[Any], package: str, name: str) -> ModuleType:
    """Import the module of this name; `SettingsError` if it does not exist or needs a package that is not installed."""
    path = name if "." in name else f"{package}.{name}"
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name != path:
            raise SettingsError(f"'{name}' needs the Python package '{error.name}', which is not installed") from error
    known = ", ".join(names(package, f"make_{kind.__name__.lower()}"))
    raise SettingsError(f"there is no {kind.__name__.lower()} called '{name}'; there are: {known}")


def names(package: str, make_name: str) -> list[str]:
    """Return the names of the modules in a package that define the function `make_name`."""
    folder = importlib.import_module(package)
    found = (info.name for info in pkgutil.iter_modules(folder.__path__) if not info.ispkg)
    return [name for name in found if _makes(folder.__path__[0], name, make_name)]


def _makes(folder: str, name: str, make_name: str) -> bool:
    with open(f"{folder}/{name}.py", encoding="utf-8") as file:
        return f"def {make_name}(" in file.read()
