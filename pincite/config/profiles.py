"""Profiles: named sets of setting values, for one request or for the whole library."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from pincite import plugins
from pincite.config.messages import did_you_mean
from pincite.config.schema import catalogue, value_of
from pincite.config.settings import Settings
from pincite.errors import Invalid
from pincite.plugins import PROVIDERS

_EXCLUDED = re.compile(r"(^|\.)(provider|base_url|api_key|path|model)$|\.fallback\.")
"""Keys that a profile never changes: providers, addresses, API keys and models."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile: name, description and values."""

    name: str
    about: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ApplicableProfile:
    """The values of a profile that apply to this library, and a message for each model that is not configured."""

    values: Mapping[str, Any]
    missing: tuple[str, ...]


@cache
def profiles() -> Mapping[str, Profile]:
    """Every profile by name, in the order of the file."""
    text = (resources.files("pincite.config") / "profiles.toml").read_text(encoding="utf-8")
    return {name: Profile(name, table["about"], table["values"]) for name, table in tomllib.loads(text).items()}


def find_profile(name: str) -> Profile:
    """Return the profile of this name; an unknown name is an error that lists all profiles."""
    if name not in profiles():
        raise Invalid(
            f"there is no profile '{name[:100]}'{did_you_mean(name, profiles())}; there are: {', '.join(profiles())}"
        )
    return profiles()[name]


def for_request(profile: Profile, settings: Settings, model: str | None = None) -> ApplicableProfile:
    """Return what a profile changes for one request: only settings that act on a query; `model` is asked for by it."""
    if model is not None:
        settings = settings.model_copy(update={"llm": settings.llm.model_copy(update={"model": model})})
    fitted = for_library(profile, settings)
    values = {key: value for key, value in fitted.values.items() if catalogue()[key].acts == "query"}
    return ApplicableProfile(values, fitted.missing)


def for_library(profile: Profile, settings: Settings) -> ApplicableProfile:
    """Return what a profile changes for the whole library, including the index."""
    values = {key: value for key, value in profile.values.items() if not _EXCLUDED.search(key)}
    missing = [note for key, wanted in profile.values.items() if (note := _unmet(profile, key, wanted, settings))]
    if not _can_rerank(values.get("rag.reranker", "none"), settings):
        del values["rag.reranker"]
    return ApplicableProfile(values, tuple(missing))


def managed_keys() -> frozenset[str]:
    """The keys that any profile sets; applying a profile resets them first."""
    return frozenset(key for profile in profiles().values() for key in profile.values if not _EXCLUDED.search(key))


def _unmet(profile: Profile, key: str, wanted: Any, settings: Settings) -> str:
    """Return a message if the model that a profile is made for is not configured, else an empty string."""
    made_for = f"the profile {profile.name} is made for"
    llm, embedding = settings.llm, settings.embedding
    if key == "llm.model" and wanted != llm.model:
        return f"{made_for} the language model {wanted}, which is not configured; {_llm_name(settings)} is used"
    if key == "llm.base_url" and _host(wanted) != _host(llm.base_url or ""):
        return f"{made_for} a language model of {_host(wanted)}; {_llm_name(settings)} is used"
    if key == "embedding.model" and wanted != (used := embedding.model or embedding.provider):
        return f"{made_for} the embedding model {wanted}, which is not configured; {used} is used"
    if key == "rag.reranker" and not _can_rerank(wanted, settings):
        return f"{made_for} the reranker {wanted}, which is not configured; {value_of(settings, key)} is used"
    return ""


def _llm_name(settings: Settings) -> str:
    llm = settings.llm
    return llm.model or llm.provider or ("the model of llm.base_url" if llm.base_url else "extractive")


def _host(address: str) -> str:
    return re.sub(r"^\w+://|[/:?#].*", "", address)


def _can_rerank(name: str, settings: Settings) -> bool:
    """Whether a reranker is available; `cross_encoder` needs the folder of its model."""
    return name == "none" or (name in _rerankers() and (name != "cross_encoder" or bool(settings.rerank.path)))


@cache
def _rerankers() -> tuple[str, ...]:
    return tuple(plugins.names(PROVIDERS, "make_reranker"))
