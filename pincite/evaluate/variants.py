"""Configurations to compare: `profile=vexora`, `rag.alpha=.3`, or several settings separated by commas."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pincite.config.profiles import find_profile, for_library
from pincite.config.schema import catalogue, value_of
from pincite.config.settings import Settings
from pincite.config.sources import find_key, with_values
from pincite.errors import Invalid, SettingsError

UNCHANGED = "as it is"
"""Name of the variant with unchanged settings."""

BUILT_BRANCHES = ("graph.", "tree.", "late.")
"""Settings of what is built beside the index."""
_SEPARATOR = re.compile(r",\s*(?=[a-z][\w.]*\s*=)")
"""A comma before another setting, unlike a comma in a list of values."""


@dataclass(frozen=True, slots=True)
class Variant:
    """Named settings; `missing` lists models of a profile that are not configured."""

    name: str
    settings: Settings
    missing: tuple[str, ...] = ()

    @property
    def index(self) -> tuple[tuple[str, Any], ...]:
        """The settings that affect the index; variants with equal ones share a library."""
        acting = [
            name
            for name, key in catalogue().items()
            if (key.acts == "index" or name.startswith(BUILT_BRANCHES)) and not key.secret
        ]
        values = ((name, value_of(self.settings, name)) for name in acting)
        return tuple((name, tuple(value) if isinstance(value, list) else value) for name, value in values)


def read_variants(texts: Sequence[str], base: Settings, chosen: Mapping[str, Any]) -> list[Variant]:
    """Parse variants; the first one is the baseline, and `chosen` overrides profiles, as in a request.

    A single variant is compared with the unchanged settings.
    """
    as_it_is = Variant(UNCHANGED, with_values(base, chosen))
    found = [_read(text, base, chosen) for text in texts]
    if len({one.name for one in found}) < len(found):
        raise Invalid("two variants are the same; name each once")
    return found if len(found) > 1 else [as_it_is, *found]


def _read(text: str, base: Settings, chosen: Mapping[str, Any]) -> Variant:
    profiled: dict[str, Any] = {}
    own: dict[str, Any] = {}
    missing: tuple[str, ...] = ()
    for pair in _SEPARATOR.split(text.strip()):
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not key:
            raise Invalid(f"--compare needs profile=NAME or KEY=VALUE, such as rag.alpha=.3 (was '{pair}')")
        if key == "profile":
            fitted = for_library(find_profile(value), base)
            profiled, missing = {**profiled, **fitted.values}, fitted.missing
        else:
            own[key] = value
    _check(own)
    try:
        return Variant(text.strip(), with_values(base, {**profiled, **chosen, **own}), missing)
    except SettingsError as error:
        raise Invalid(str(error)) from None


def _check(values: Mapping[str, Any]) -> None:
    for name in values:
        try:
            key = find_key(name)
        except SettingsError as error:
            raise Invalid(str(error)) from None
        if key.secret or key.acts == "start":
            raise Invalid(f"'{name}' cannot be compared: {key.fixed}")
