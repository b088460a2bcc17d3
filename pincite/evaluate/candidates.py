"""The settings that tuning tries: one change each, of settings that act on a question."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pincite.config.levels import LEVEL, levels
from pincite.config.schema import catalogue, value_of
from pincite.config.settings import Settings
from pincite.config.sources import with_values
from pincite.core.evaluations import Tested
from pincite.errors import Invalid, SettingsError
from pincite.evaluate.variants import Variant, read_variants
from pincite.tracing.replay import check_changes

SEARCH_VALUES: Mapping[str, Sequence[Any]] = {
    "rag.alpha": (0.25, 0.75, 0.0, 1.0),
    "rag.fusion": ("relative_score", "rrf"),
    "rag.relative_to": ("possible", "found"),
    "rag.follow_titles": (0.0, 0.2),
    "rag.drop_duplicates": (True, False),
    "rag.mmr": ("auto", "off", "on"),
    "rag.strategy": ("hybrid", "two_stage", "hierarchical", "auto"),
    "spelling.enabled": (True, False),
    "rag.reranker": ("none", "cosine"),
}
"""Values to try of settings that act on a search."""

ANSWER_VALUES: Mapping[str, Sequence[Any]] = {
    "rag.top_k": (5, 10, 20),
    "rag.similarity_threshold": (0.0, 0.02, 0.1),
    "rag.verification_enabled": (True, False),
    "rag.second_look": (False, True),
    "rag.expansion.enabled": (False, True),
}
"""Values to try of settings that act on an answer, after those of a search."""

LEVELS_WITHOUT_MODEL = ("basic", "standard")
"""Levels that differ where no language model is configured."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A change of settings to try."""

    changes: Mapping[str, Any]
    variant: Variant

    @property
    def name(self) -> str:
        """The change in words."""
        return self.variant.name


def make_candidates(
    settings: Settings, tests: Tested, *, extra: Sequence[str] = (), only_extra: bool = False, has_model: bool = False
) -> list[Candidate]:
    """Return the changes to try; `extra` are further ones such as `rag.top_k=7` or `llm.model=NAME`.

    A change that equals the current settings is left out.
    """
    found = [] if only_extra else [_candidate(settings, changes) for changes in _changes(settings, tests, has_model)]
    found += [_parse(text, settings) for text in extra]
    distinct = {one.name: one for one in found if _differs(one, settings)}
    if not distinct:
        raise Invalid("there is nothing to try: every change equals the current settings")
    return list(distinct.values())


def _changes(settings: Settings, tests: Tested, has_model: bool) -> Iterator[dict[str, Any]]:
    for key, values in SEARCH_VALUES.items():
        yield from ({key: value} for value in values)
    if settings.rerank.path:
        yield {"rag.reranker": "cross_encoder"}
    if tests == "search":
        return
    for key, values in ANSWER_VALUES.items():
        yield from ({key: value} for value in values)
    yield from ({LEVEL: level} for level in (levels() if has_model else LEVELS_WITHOUT_MODEL))
    yield from ({"llm.model": model} for model in _configured_models(settings))


def _configured_models(settings: Settings) -> Iterator[str]:
    """The fallback's model, if the server of the first model offers it too."""
    fallback = settings.llm.fallback
    if fallback.model and fallback.base_url in ("", settings.llm.base_url):
        yield fallback.model


def _candidate(settings: Settings, changes: Mapping[str, Any]) -> Candidate:
    name = ", ".join(
        f"{key}={str(value).lower() if isinstance(value, bool) else value}" for key, value in changes.items()
    )
    return Candidate(changes, Variant(name, with_values(settings, changes)))


def _parse(text: str, settings: Settings) -> Candidate:
    """Parse a change that a user names, and check that a question may be asked with it."""
    _, variant = read_variants([text], settings, {})
    changes = {
        key: value_of(variant.settings, key)
        for key, known in catalogue().items()
        if not known.secret and value_of(variant.settings, key) != value_of(settings, key)
    }
    if variant.index != Variant("", settings).index:
        raise Invalid(f"'{text}' affects indexing and cannot be tried on an existing library")
    check_changes(changes, "tuning")
    try:
        return Candidate(changes, Variant(text.strip(), with_values(settings, changes)))
    except SettingsError as error:
        raise Invalid(str(error)) from None


def _differs(candidate: Candidate, settings: Settings) -> bool:
    return any(value_of(settings, key) != value for key, value in candidate.changes.items())
