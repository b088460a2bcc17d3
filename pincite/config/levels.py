"""Levels: how much is done for an answer, as named sets of setting values for one question."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from pincite.config.messages import nearest
from pincite.errors import Invalid

LEVEL = "answers.level"
"""The setting that says which level a question has."""


@dataclass(frozen=True, slots=True)
class LevelPreset:
    """What a level stands for, its values, and what it would use besides, by stage, with the reason it does not."""

    about: str
    values: Mapping[str, Any]
    waiting: Mapping[str, str]


@cache
def levels() -> Mapping[str, LevelPreset]:
    """Every level by name, the least first."""
    text = (resources.files("pincite.config") / "levels.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    return {
        name: LevelPreset(table[name]["about"], {LEVEL: name, **table[name]["values"]}, table[name].get("waiting", {}))
        for name in table
    }


def find_level(name: str) -> LevelPreset:
    """The level of this name; an error names those there are."""
    found = next((row for level, row in levels().items() if level == name), None)
    if found is None:
        raise Invalid(
            f"there is no level '{str(name)[:100]}'{nearest(str(name), levels())}; there are: {', '.join(levels())}"
        )
    return found
