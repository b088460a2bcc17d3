"""Levels: named sets of setting values for one question, from little to much effort."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from pincite.config.messages import did_you_mean
from pincite.errors import Invalid

LEVEL = "answers.level"
"""The setting with the default level."""


@dataclass(frozen=True, slots=True)
class LevelPreset:
    """A level: its description and its values."""

    about: str
    values: Mapping[str, Any]


@cache
def levels() -> Mapping[str, LevelPreset]:
    """Every level by name, in ascending order of effort."""
    text = (resources.files("pincite.config") / "levels.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    return {name: LevelPreset(table[name]["about"], {LEVEL: name, **table[name]["values"]}) for name in table}


def find_level(name: str) -> LevelPreset:
    """Return the level of this name; an unknown name is an error that lists all levels."""
    found = next((row for level, row in levels().items() if level == name), None)
    if found is None:
        hint = did_you_mean(str(name), levels())
        raise Invalid(f"there is no level '{str(name)[:100]}'{hint}; there are: {', '.join(levels())}")
    return found
