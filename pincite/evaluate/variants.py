"""Configurations to compare: `profile=vexora`, `rag.alpha=.3`, or several settings with commas between."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pincite.config.profiles import find_profile, for_library
from pincite.config.schema import catalogue, value_of
from pincite.config.settings import Settings
from pincite.config.sources import find_key, with_values
from pincite.errors import Invalid, SettingsError

AS_IT_IS = "as it is"
"""The settings nobody changed anything about."""

_BETWEEN = re.compile(r",\s*(?=[a-z][\w.]*\s*=)")
"""A comma that another setting follows; one in a list of values is not."""


@dataclass(frozen=True, slots=True)
class Variant:
    """Settings under a name; `missing` is what a profile would like and is not here."""

    name: str
    settings: Settings
    missing: tuple[str, ...] = ()

    @property
    def index(self) -> tuple[tuple[str, Any], ...]:
        """The settings that decide what the index is like; variants that agree in them share one."""
        acting = [name for name, key in catalogue().items() if key.acts == "index" and not key.secret]
        values = ((name, value_of(self.settings, name)) for name in acting)
        return tuple((name, tuple(value) if isinstance(value, list) else value) for name, value in values)


def read_variants(texts: Sequence[str], base: Settings, chosen: Mapping[str, Any]) -> list[Variant]:
    """The variants these texts name, the first to compare with; `chosen` wins over profiles, as in a request.

    One alone is compared with the settings as they are.
    """
    as_it_is = Variant(AS_IT_IS, with_values(base, chosen))
    found = [_read(text, base, chosen) for text in texts]
    if len({one.name for one in found}) < len(found):
        raise Invalid("two things to compare are the same; name each once")
    return found if len(found) > 1 else [as_it_is, *found]


def _read(text: str, base: Settings, chosen: Mapping[str, Any]) -> Variant:
    profiled: dict[str, Any] = {}
    own: dict[str, Any] = {}
    missing: tuple[str, ...] = ()
    for pair in _BETWEEN.split(text.strip()):
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not key:
            raise Invalid(f"--compare takes profile=NAME or KEY=VALUE, such as rag.alpha=.3; '{pair}' is not that")
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
