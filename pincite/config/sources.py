"""Build the settings from their layers: defaults, file, environment, changes in the database, the caller's values."""

import os
import stat
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from pincite.config.messages import describe_error, did_you_mean
from pincite.config.model_keys import ModelKey
from pincite.config.schema import Key, catalogue, parse_value
from pincite.config.settings import (
    ALIASES,
    SECRET_PREFIX,
    Settings,
    default_data_folder,
    environment,
    environment_name,
)
from pincite.errors import SettingsError

Source = Literal["default", "file", "environment", "database", "call"]
"""The layer a value comes from; later ones win."""

FILE_VARIABLE, SAFE_MODE_VARIABLE = "PINCITE_SETTINGS", "PINCITE_SAFE"
"""Environment variables for the path of the settings file, and for ignoring the changes in the database."""
_FILE_NAME = "settings.toml"
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


@dataclass(frozen=True, slots=True)
class SettingsLayers:
    """The values of each layer by dotted key; the changes in the database are added when the tree is built.

    `variables` are the environment variables by key. `model_keys` are keys of model servers that an administrator
    entered; one is used while no other layer has a key and the server is the one it was entered for.
    """

    file: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    passed: Mapping[str, Any] = field(default_factory=dict)
    safe: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)
    model_keys: Mapping[str, ModelKey] = field(default_factory=dict)

    def settings(
        self, changes: Mapping[str, Any] | None = None, *, profile: Mapping[str, Any] | None = None, revision: int = 0
    ) -> Settings:
        """Build the tree, with the `changes` in the database and the `profile` of a request.

        What the environment sets, a profile does not change.
        """
        applied = {key: self.environment.get(key, value) for key, value in (profile or {}).items()}
        values = {**self.file, **self.environment, **(changes or {}), **applied, **self.passed}
        fitting = {f"{branch}.api_key": key.key for branch, key in self.model_keys.items() if key.fits(branch, values)}
        return _tree({**fitting, **values}, revision)

    def source(self, key: str, changes: Mapping[str, Any]) -> Source:
        """Return the layer that a setting's value comes from."""
        named: list[tuple[Source, Mapping[str, Any]]] = [
            ("call", self.passed),
            ("database", changes),
            ("environment", self.environment),
            ("file", self.file),
        ]
        return next((source for source, values in named if key in values), "default")


def load_settings(overrides: Mapping[str, Any] | None = None, env: Mapping[str, str] | None = None) -> Settings:
    """Load the settings without a database: defaults, file, environment, then `overrides`."""
    return read_layers(overrides, env).settings()


def read_layers(passed: Mapping[str, Any] | None = None, env: Mapping[str, str] | None = None) -> SettingsLayers:
    """Read the file, the environment and the caller's values; keys are checked, values are not validated yet."""
    names = environment() if env is None else env
    chosen = {key: _check_value(key, value) for key, value in (passed or {}).items()}
    from_environment = _from_environment(names)
    data = Path(chosen.get("data", from_environment.get("data", default_data_folder())))
    named = names.get(FILE_VARIABLE)
    values = _from_file(Path(named) if named else data / _FILE_NAME, needed=bool(named))
    safe = _safe_mode(names.get(SAFE_MODE_VARIABLE, ""))
    return SettingsLayers(values, from_environment, chosen, safe, _variables(names, from_environment))


def layers_of(settings: Settings) -> SettingsLayers:
    """Return the layers of existing settings; explicitly set values count as passed by the caller."""
    return SettingsLayers(passed=_explicit_values(settings))


def with_values(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """Return a copy of the settings with other values for some keys."""
    passed = _explicit_values(settings) | {key: _check_value(key, value) for key, value in values.items()}
    return SettingsLayers(passed=passed).settings(revision=settings.revision)


def _explicit_values(branch: BaseModel, prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in branch.model_fields_set:
        value = getattr(branch, name)
        found |= (
            _explicit_values(value, f"{prefix}{name}.") if isinstance(value, BaseModel) else {f"{prefix}{name}": value}
        )
    return found


# --- the layers ---------------------------------------------------------------------------------------------


def _from_environment(env: Mapping[str, str]) -> dict[str, Any]:
    names = {environment_name(key): key for key in catalogue()}
    values = {key: _check_value(key, env[name], f" ({name})") for name, key in ALIASES.items() if env.get(name)}
    for name, value in env.items():
        if name in names and value:  # an empty variable counts as unset, as for the aliases
            values[names[name]] = _check_value(names[name], value, f" ({name})")
        elif name not in names and _is_setting_name(name):
            hint = did_you_mean(name, (*names, FILE_VARIABLE, SAFE_MODE_VARIABLE))
            raise SettingsError(f"the environment variable {name} is not a setting{hint}")
    return values


def _variables(env: Mapping[str, str], values: Iterable[str]) -> dict[str, str]:
    """The environment variable that sets each of these keys."""
    aliases = {key: name for name, key in ALIASES.items() if env.get(name)}
    return {key: name if env.get(name := environment_name(key)) else aliases[key] for key in values}


def _is_setting_name(name: str) -> bool:
    others = name in (*ALIASES, FILE_VARIABLE, SAFE_MODE_VARIABLE) or name.startswith(("PINCITE_TEST_", SECRET_PREFIX))
    return name.startswith("PINCITE_") and not others


def _from_file(path: Path, *, needed: bool) -> dict[str, Any]:
    """Read a settings file; it may hold a secret only if no other user can read it."""
    try:
        with path.open("rb") as file:
            mode, table = os.fstat(file.fileno()).st_mode, tomllib.load(file)
    except (FileNotFoundError, NotADirectoryError):
        if needed:
            raise SettingsError(f"there is no settings file {path}; correct {FILE_VARIABLE}") from None
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"the settings file {path} cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"the settings file {path} is not TOML: {error}") from None
    values = {key: _check_value(key, value, f" ({path})") for key, value in _flatten(table)}
    if "data" in values and not needed:
        raise SettingsError(
            f"the settings file {path} is in the data folder, so it cannot set 'data'; set PINCITE_DATA instead"
        )
    secrets = [key for key in values if catalogue()[key].secret]
    if secrets and stat.S_IMODE(mode) & 0o077:
        raise SettingsError(
            f"the settings file holds the secret {secrets[0]} and other users can read it; run: chmod 600 {path}"
        )
    return values


def _flatten(table: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Return dotted keys with their values; a setting that is itself a table stays whole."""
    found: list[tuple[str, Any]] = []
    for name, value in table.items():
        key = prefix + name
        found += _flatten(value, f"{key}.") if isinstance(value, dict) and key not in catalogue() else [(key, value)]
    return found


def _safe_mode(value: str) -> bool:
    if value.lower() not in (*_TRUE, *_FALSE):
        raise SettingsError(f"{SAFE_MODE_VARIABLE} must be 1 or 0 (was {value!r})")
    return value.lower() in _TRUE


# --- building -----------------------------------------------------------------------------------------------


def find_key(name: str) -> Key:
    """Return the setting of this name; an unknown name is an error that suggests the closest one."""
    if name not in catalogue():
        raise SettingsError(f"there is no setting '{name}'{did_you_mean(name, catalogue())}")
    return catalogue()[name]


def _check_value(name: str, value: Any, where: str = "") -> Any:
    key = find_key(name)
    try:
        return parse_value(key, value)
    except ValueError as error:
        raise SettingsError(f"setting '{name}'{where} {error}{_shown_value(key, value)}") from None


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
        raise _to_settings_error(error) from None


def _to_settings_error(error: ValidationError) -> SettingsError:
    """Convert the first validation error into one line that says what is allowed."""
    first = error.errors()[0]
    path = [str(part) for part in first["loc"]]
    names = (".".join(path[:length]) for length in range(len(path), 0, -1))
    key = next((catalogue()[name] for name in names if name in catalogue()), None)
    if key is None:  # the combination of several settings is invalid
        return SettingsError(f"settings under '{'.'.join(path)}': {describe_error(first)}")
    if first["type"] == "value_error":  # the message of our own validator
        return SettingsError(f"setting '{key.name}' {describe_error(first)}")
    return SettingsError(f"setting '{key.name}' must be {key.allowed}{_shown_value(key, first['input'])}")


def _shown_value(key: Key, value: object) -> str:
    return "" if key.secret else f" (was {str(value)[:100]!r})" if isinstance(value, str) else f" (was {value!r:.100})"
