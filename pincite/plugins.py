"""Find an implementation by name: the name in the settings is the name of the file."""

import importlib
import inspect
import pkgutil
from collections.abc import Mapping
from typing import Any, TypeVar

from pincite.errors import SettingsError

T = TypeVar("T")


def load(kind: type[T], package: str, name: str, options: Mapping[str, Any], **offered: object) -> T:
    """Build the `kind` that `<package>/<name>.py` makes; a dotted name is taken as it is.

    The module has `make_<kind>(options)`, where `options` is its `Options` dataclass; parameters after
    that are given what the engine offers under the same name, such as the embedder.
    """
    path = name if "." in name else f"{package}.{name}"
    make_name = f"make_{kind.__name__.lower()}"
    try:
        module = importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name == path:
            known = ", ".join(names(package, make_name))
            raise SettingsError(f"there is no {kind.__name__.lower()} called '{name}'; there are: {known}") from None
        raise SettingsError(f"'{name}' needs the Python package '{error.name}', which is not installed") from error
    make = getattr(module, make_name, None)
    if make is None:
        known = ", ".join(names(package, make_name))
        raise SettingsError(f"'{name}' makes no {kind.__name__.lower()}; these do: {known}")
    wanted = [p for p in inspect.signature(make).parameters if p != "options"]
    try:
        made = make(module.Options(**options), **{p: offered[p] for p in wanted})
    except (TypeError, KeyError) as error:
        raise SettingsError(f"{path}: {error}") from error
    if not isinstance(made, kind):
        raise SettingsError(f"{path}.{make_name} did not make a {kind.__name__}")
    return made


def names(package: str, make_name: str) -> list[str]:
    """The files of a package that have this maker, found by listing the folder."""
    folder = importlib.import_module(package)
    found = (info.name for info in pkgutil.iter_modules(folder.__path__))
    return [name for name in found if _makes(folder.__path__[0], name, make_name)]


def _makes(folder: str, name: str, make_name: str) -> bool:
    with open(f"{folder}/{name}.py", encoding="utf-8") as file:
        return f"def {make_name}(" in file.read()
