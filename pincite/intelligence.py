"""Levels: how much is done for an answer, as named sets of setting values for one question."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, get_args

from pincite.core.answers import Degraded, Level, Question
from pincite.errors import Invalid
from pincite.settings import Settings
from pincite.wording import nearest

LEVEL = "answers.level"
"""The setting that says which level a question has."""


@dataclass(frozen=True, slots=True)
class Row:
    """What a level stands for, its values, and what it would use besides, by stage, with the reason it does not."""

    about: str
    values: Mapping[str, Any]
    waiting: Mapping[str, str]


@cache
def levels() -> Mapping[Level, Row]:
    """Every level by name, the least first."""
    text = (resources.files("pincite") / "intelligence.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    return {
        name: Row(table[name]["about"], {LEVEL: name, **table[name]["values"]}, table[name].get("waiting", {}))
        for name in get_args(Level)
    }


def find_level(name: str) -> Row:
    """The level of this name; an error names those there are."""
    found = next((row for level, row in levels().items() if level == name), None)
    if found is None:
        raise Invalid(
            f"there is no level '{str(name)[:100]}'{nearest(str(name), levels())}; there are: {', '.join(levels())}"
        )
    return found


def level_of(question: Question, settings: Settings) -> Level | None:
    """The level whose values a question is answered by; None where it is the settings as they are."""
    configured = settings.answers.level
    return question.intelligence_level or (None if configured == "standard" else configured)


def lacking(level: Level) -> list[Degraded]:
    """What a level would use and nobody has."""
    return [
        Degraded(stage, f"{reason}; the level {level} went without it")
        for stage, reason in levels()[level].waiting.items()
    ]
