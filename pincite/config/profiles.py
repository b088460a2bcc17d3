"""Profiles: named sets of setting values, for one request or for a whole library."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from pincite import plugins
from pincite.config.messages import nearest
from pincite.config.schema import catalogue, value_of
from pincite.config.settings import Settings
from pincite.errors import Invalid
from pincite.plugins import PROVIDERS

_NEVER = re.compile(r"(^|\.)(provider|base_url|api_key|path|model)$|\.fallback\.")
"""What no profile brings along: who is asked, where, and with which key."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A name, what it stands for, and its values; those `waiting` belong to settings that do not exist yet."""

    name: str
    about: str
    values: Mapping[str, Any]
    waiting: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Fitted:
    """What of a profile can be had here, and what it would like besides, in words."""

    values: Mapping[str, Any]
    missing: tuple[str, ...]


@cache
def profiles() -> Mapping[str, Profile]:
    """Every profile by name, as the file lists them."""
    text = (resources.files("pincite.config") / "profiles.toml").read_text(encoding="utf-8")
    return {
        name: Profile(name, table["about"], table["values"], table["waiting"])
        for name, table in tomllib.loads(text).items()
    }


def find_profile(name: str) -> Profile:
    """The profile of this name; an error names those there are."""
    if name not in profiles():
        raise Invalid(
            f"there is no profile '{name[:100]}'{nearest(name, profiles())}; there are: {', '.join(profiles())}"
        )
    return profiles()[name]


def for_request(profile: Profile, settings: Settings) -> Fitted:
    """What a profile changes for one request: settings that act on a query, never who is asked."""
    fitted = for_library(profile, settings)
    values = {key: value for key, value in fitted.values.items() if catalogue()[key].acts == "query"}
    return Fitted(values, fitted.missing)


def for_library(profile: Profile, settings: Settings) -> Fitted:
    """What a profile changes for a whole library, its index included."""
    values = {key: value for key, value in profile.values.items() if not _NEVER.search(key)}
    missing = [note for key, wanted in profile.values.items() if (note := _unmet(profile, key, wanted, settings))]
    if not _can_rerank(values.get("rag.reranker", "none"), settings):
        del values["rag.reranker"]
    return Fitted(values, tuple(missing))


def managed() -> frozenset[str]:
    """The settings that any profile sets: applying another one takes these back."""
    return frozenset(key for profile in profiles().values() for key in profile.values if not _NEVER.search(key))


def _unmet(profile: Profile, key: str, wanted: Any, settings: Settings) -> str:
    """What to say where a model that a profile is made for is not the one configured."""
    made_for = f"the profile {profile.name} is made for {wanted}"
    llm, embedding = settings.llm, settings.embedding
    if key == "llm.model" and wanted != llm.model:
        return f"{made_for} to write, which is not configured; {_writer(settings)} is used"
    if key == "llm.base_url" and _host(wanted) != _host(llm.base_url or ""):
        return (
            f"the profile {profile.name} is made for a model of {_host(wanted)} to write; {_writer(settings)} is used"
        )
    if key == "embedding.model" and wanted != (used := embedding.model or embedding.provider):
        return f"{made_for} to embed, which is not configured; {used} is used"
    if key == "rag.reranker" and not _can_rerank(wanted, settings):
        return f"{made_for} to rerank, which is not configured; {value_of(settings, key)} is used"
    return ""


def _writer(settings: Settings) -> str:
    llm = settings.llm
    return llm.model or llm.provider or ("the model of llm.base_url" if llm.base_url else "extractive")


def _host(address: str) -> str:
    return re.sub(r"^\w+://|[/:?#].*", "", address)


def _can_rerank(name: str, settings: Settings) -> bool:
    """Whether a reranker can be had: those that need a model of their own only where its folder is configured."""
    return name == "none" or (name in _rerankers() and (name != "cross_encoder" or bool(settings.rerank.path)))


@cache
def _rerankers() -> tuple[str, ...]:
    return tuple(plugins.names(PROVIDERS, "make_reranker"))
