"""The tree of settings from its layers: defaults, file, environment, an administrator's changes, the caller's own."""

import os
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from pincite.config.messages import describe_error, nearest
from pincite.config.schema import Key, catalogue, parsed
from pincite.config.settings import ALIASES, Settings, default_data_folder, environment, environment_name
from pincite.errors import SettingsError

Source = Literal["default", "file", "environment", "database", "call"]
"""Where a value comes from; later ones win."""

FILE, SAFE = "PINCITE_SETTINGS", "PINCITE_SAFE"
"""Names of the environment that are no settings: where the settings file is, and whether to ignore changes."""
_FILE_NAME = "settings.toml"
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


@dataclass(frozen=True, slots=True)
class SettingsLayers:
    """Values by dotted key as each layer gives them; what is in the database comes in when the tree is built."""

    file: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    passed: Mapping[str, Any] = field(default_factory=dict)
    safe: bool = False

    def settings(
        self, changes: Mapping[str, Any] | None = None, *, profile: Mapping[str, Any] | None = None, revision: int = 0
    ) -> Settings:
        """The tree with an administrator's `changes` and a request's `profile` in their places."""
        given = {**self.file, **self.environment, **(changes or {}), **(profile or {}), **self.passed}
        return _tree(given, revision)

    def source(self, key: str, changes: Mapping[str, Any]) -> Source:
        """Which layer a setting's value comes from."""
        named: list[tuple[Source, Mapping[str, Any]]] = [
            ("call", self.passed), ("database", changes), ("environment", self.environment), ("file", self.file)
        ]  # fmt: skip
        return next((source for source, values in named if key in values), "default")


def load_settings(overrides: Mapping[str, Any] | None = None, env: Mapping[str, str] | None = None) -> Settings:
    """The settings as they are without a database: defaults, the file, the environment, then `overrides`."""
    return read_layers(overrides, env).settings()


def read_layers(passed: Mapping[str, Any] | None = None, env: Mapping[str, str] | None = None) -> SettingsLayers:
    """What the file, the environment and the caller say, each key known, nothing validated yet."""
    names = environment() if env is None else env
    chosen = {key: _checked(key, value) for key, value in (passed or {}).items()}
    from_environment = _from_environment(names)
    data = Path(chosen.get("data", from_environment.get("data", default_data_folder())))
    named = names.get(FILE)
    values = _from_file(Path(named) if named else data / _FILE_NAME, needed=bool(named))
    return SettingsLayers(values, from_environment, chosen, _safe(names.get(SAFE, "")))


def layers_of(settings: Settings) -> SettingsLayers:
    """A tree somebody built: what was given when it was made counts as passed by the caller."""
    return SettingsLayers(passed=_given(settings))


def with_values(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """The same tree with other values for some keys."""
    passed = _given(settings) | {key: _checked(key, value) for key, value in values.items()}
    return SettingsLayers(passed=passed).settings(revision=settings.revision)


def _given(branch: BaseModel, prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in branch.model_fields_set:
        value = getattr(branch, name)
        found |= _given(value, f"{prefix}{name}.") if isinstance(value, BaseModel) else {f"{prefix}{name}": value}
    return found


# --- the layers ---------------------------------------------------------------------------------------------


def _from_environment(env: Mapping[str, str]) -> dict[str, Any]:
    names = {environment_name(key): key for key in catalogue()}
    values = {key: _checked(key, env[name], f" ({name})") for name, key in ALIASES.items() if env.get(name)}
    for name, value in env.items():
        if name in names and value:  # an empty one stands for none, as for the other names
            values[names[name]] = _checked(names[name], value, f" ({name})")
        elif name not in names and _is_meant_for_us(name):
            raise SettingsError(f"the environment names no setting with {name}{nearest(name, (*names, FILE, SAFE))}")
    return values


def _is_meant_for_us(name: str) -> bool:
    others = name in (*ALIASES, FILE, SAFE) or name.startswith("PINCITE_TEST_")
    return name.startswith("PINCITE_") and not others


def _from_file(path: Path, *, needed: bool) -> dict[str, Any]:
    """What a settings file says; one that others can read may not hold a secret."""
    try:
        with path.open("rb") as file:
            mode, table = os.fstat(file.fileno()).st_mode, tomllib.load(file)
    except (FileNotFoundError, NotADirectoryError):
        if needed:
            raise SettingsError(f"there is no settings file {path}; correct {FILE}") from None
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"the settings file {path} cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"the settings file {path} is not TOML: {error}") from None
    values = {key: _checked(key, value, f" ({path})") for key, value in _flat(table)}
    if "data" in values and not needed:
        raise SettingsError(f"the settings file {path} lies in the data folder, so it cannot say where that is")
    secrets = [key for key in values if catalogue()[key].secret]
    if secrets and stat.S_IMODE(mode) & 0o077:
        raise SettingsError(f"the settings file holds {secrets[0]} and others can read it; run: chmod 600 {path}")
    return values


def _flat(table: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Dotted keys with their values; a setting that is a table itself stays whole."""
    found: list[tuple[str, Any]] = []
    for name, value in table.items():
        key = prefix + name
        found += _flat(value, f"{key}.") if isinstance(value, dict) and key not in catalogue() else [(key, value)]
    return found


def _safe(value: str) -> bool:
    if value.lower() not in (*_TRUE, *_FALSE):
        raise SettingsError(f"{SAFE} must be 1 or 0 (was {value!r})")
    return value.lower() in _TRUE


# --- building -----------------------------------------------------------------------------------------------


def known(name: str) -> Key:
    """The setting of this name; an error names the nearest right one."""
    if name not in catalogue():
        raise SettingsError(f"there is no setting '{name}'{nearest(name, catalogue())}")
    return catalogue()[name]


def _checked(name: str, value: Any, where: str = "") -> Any:
    key = known(name)
    try:
        return parsed(key, value)
    except ValueError as error:
        raise SettingsError(f"setting '{name}'{where} {error}{_was(key, value)}") from None


def _tree(values: Mapping[str, Any], revision: int) -> Settings:
    tree: dict[str, Any] = {}
    for name, value in values.items():
        *path, leaf = name.split(".")
        branch = tree
        for part in path:
            branch = branch.setdefault(part, {})
        branch[leaf] = value
    try:
        return Settings.model_validate(tree).at(revision)
    except ValidationError as error:
        raise _told(error) from None


def _told(error: ValidationError) -> SettingsError:
    """The first thing wrong, in one line that says what is allowed."""
    first = error.errors()[0]
    path = [str(part) for part in first["loc"]]
    names = (".".join(path[:length]) for length in range(len(path), 0, -1))
    key = next((catalogue()[name] for name in names if name in catalogue()), None)
    if key is None:  # several settings together cannot work
        return SettingsError(f"settings under '{'.'.join(path)}': {describe_error(first)}")
    if first["type"] == "value_error":  # our own words
        return SettingsError(f"setting '{key.name}' {describe_error(first)}")
    return SettingsError(f"setting '{key.name}' must be {key.allowed}{_was(key, first['input'])}")


def _was(key: Key, value: object) -> str:
    return "" if key.secret else f" (was {str(value)[:100]!r})" if isinstance(value, str) else f" (was {value!r:.100})"
