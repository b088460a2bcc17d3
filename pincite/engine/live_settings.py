"""The current settings: changes by administrators over the configured values.

A change reaches every process within a second.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pincite.concurrency import cancel_and_wait
from pincite.config.model_keys import ModelKey, read_model_keys, write_model_key
from pincite.config.profiles import find_profile, for_library, for_request, managed_keys
from pincite.config.schema import (
    NAMES_A_PROVIDER,
    Key,
    catalogue,
    find,
    is_set,
    parse_value,
    value_of,
    without_password,
)
from pincite.config.settings import Settings
from pincite.config.sources import SettingsLayers, Source, find_key
from pincite.core.accounts.access import Caller, require
from pincite.core.operations import SettingChange
from pincite.errors import Invalid, PinciteError, SettingsError
from pincite.models.kit_factory import default_address
from pincite.store.operations.settings import SettingsChange, Stored, StoredSettings
from pincite.text.sentences import without_login

log = logging.getLogger(__name__)

_CHECKED_KEYS = ("llm.", "embedding.", "rag.reranker", "rerank.")
"""Keys whose changes are checked by building the tools before they are stored."""
_KEY_WOULD_LEAK = (
    "'{branch}.{leaf}' cannot be changed while {branch}.api_key is set: the key would be sent to the new server; "
    "change both in the environment or the settings file"
)


@dataclass(frozen=True, slots=True)
class SettingLine:
    """A setting with its current value and source; `stored` is the stored value, if another source overrides it."""

    key: Key
    value: Any
    source: Source
    set: bool
    stored: Any = None


@dataclass(frozen=True, slots=True)
class SettingsOutcome:
    """The result of a change; `reindex` are keys that require reindexing, `missing` the unmet needs of a profile."""

    revision: int
    changes: tuple[SettingChange, ...]
    reindex: tuple[str, ...]
    missing: tuple[str, ...] = ()
    profile: str | None = None


class LiveSettings:
    """Builds the settings from their layers, stores changes for all processes, and applies the changes of other processes.

    The three callbacks get the new settings. `check` raises if their components (embedder, reranker, model) cannot be
    built. `prepare` builds the components. `adopt` switches to them.
    """

    def __init__(
        self,
        layers: SettingsLayers,
        store: StoredSettings,
        check: Callable[[Settings], Awaitable[None]],
        prepare: Callable[[Settings], Awaitable[None]],
        adopt: Callable[[Settings], None],
    ) -> None:
        self._layers, self._store = layers, store
        self._check, self._prepare, self._adopt = check, prepare, adopt
        self._stored: Mapping[str, Any] = {}
        self._revision = -1
        self._reloading = asyncio.Lock()
        self._following: asyncio.Task[None] | None = None
        self.settings = layers.settings()
        self.changes: Mapping[str, Any] = {}
        self.ignored: Mapping[str, str] = {}

    @property
    def safe(self) -> bool:
        """Whether the stored changes are ignored (PINCITE_SAFE)."""
        return self._layers.safe

    @property
    def overridden(self) -> Mapping[str, str]:
        """Why values of the environment are not used, by key: the database has other ones."""
        return {
            key: f"{self._layers.variables.get(key, key)} of the environment is not used: the database has "
            f"{_shown(key, stored)}; to use it: pincite settings reset {key}"
            for key, stored in self.changes.items()
            if self._layers.source(key, self.changes) == "database"
            and key in self._layers.environment
            and self.configured(key) != value_of(self.settings, key)
        }

    async def open(self) -> None:
        """Apply the stored changes, then follow further changes."""
        try:
            await self._reload()
        except SettingsError as error:
            if self.safe or not self._stored:
                raise
            raise SettingsError(f"{error} (with an administrator's changes; PINCITE_SAFE=1 ignores them)") from error
        self._following = asyncio.create_task(self._store.follow(self._on_revision))

    async def close(self) -> None:
        """Stop following changes."""
        if self._following is not None:
            await cancel_and_wait(self._following)

    async def _on_revision(self, revision: int) -> None:
        """Apply a new revision or new model keys; on failure the previous settings stay in use."""
        if revision == self._revision and read_model_keys(self.settings.data) == self._layers.model_keys:
            return
        try:
            await self._reload()
        except PinciteError as error:
            log.warning("the settings of revision %s cannot be used here: %s", revision, error)
        except Exception:
            log.exception("the settings of revision %s cannot be used here", revision)

    async def _reload(self) -> None:
        async with self._reloading:
            stored = await self._store.current()
            keys = read_model_keys(self.settings.data)
            if stored.revision == self._revision and keys == self._layers.model_keys:
                return
            self._layers = replace(self._layers, model_keys=keys)
            self._stored = stored.values
            changes, ignored = self._usable_changes(stored.values)
            for reason in ignored.values():
                log.warning("a stored setting is ignored: %s", reason)
            if self.safe:
                changes, ignored = {}, dict.fromkeys(stored.values, "PINCITE_SAFE is set")
            try:
                settings = self._layers.settings(changes, revision=stored.revision)
                await self._prepare(settings)
            except (
                SettingsError
            ) as error:  # permanent; a component that is down raises another error and is retried at the next poll
                self._revision, self.ignored = stored.revision, dict.fromkeys(stored.values, str(error))
                raise
            self._revision, self.settings, self.changes, self.ignored = stored.revision, settings, changes, ignored
            for reason in self.overridden.values():
                log.warning("%s", reason)
            self._adopt(settings)
            if self._following is not None:
                log.info("settings of revision %s are in use", stored.revision)

    async def set_model_key(self, branch: str, key: ModelKey | None, caller: Caller) -> None:
        """Store or remove the key of a model server in the data folder; every process there uses it within seconds."""
        require(caller, "administer")
        await asyncio.to_thread(write_model_key, self.settings.data, branch, key)
        await self._reload()

    async def renew(self) -> None:
        """Prepare and adopt the current settings again, after a switch of the index."""
        async with self._reloading:
            await self._prepare(self.settings)
            self._adopt(self.settings)

    def _usable_changes(self, stored: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the stored changes that can be used, and the reasons why others cannot.

        Another version of pincite may have written them, or an API key for another server was configured since.
        """
        usable, ignored = dict[str, Any](), dict[str, str]()
        for name, value in stored.items():
            try:
                find_key(name)
                _shared_layers(self._layers).settings({name: value})
                usable[name] = value
            except SettingsError as error:
                ignored[name] = str(error)
        ignored |= _leaking_changes(self._layers, usable)
        return {name: value for name, value in usable.items() if name not in ignored}, ignored

    # --- changes ----------------------------------------------------------------------------------------------

    async def set(self, values: Mapping[str, Any], caller: Caller) -> SettingsOutcome:
        """Change settings as one batch, for all processes; the value None resets a key."""

        async def decide(stored: Stored) -> SettingsChange:
            wanted = {name: self._validated(name, value, stored.values) for name, value in values.items()}
            is_reset = bool(wanted) and all(value is None for value in wanted.values())
            return SettingsChange("reset" if is_reset else "set", await self._checked(stored, wanted))

        return await self._revise(caller, decide)

    async def undo(self, caller: Caller) -> SettingsOutcome:
        """Undo the newest batch of changes that is not undone yet."""

        async def decide(stored: Stored) -> SettingsChange:
            if not stored.last:
                raise Invalid("there is no change left to undo")
            before = {change.key: change.before for change in stored.last}
            return SettingsChange("undo", await self._checked(stored, before), undoes=stored.last[0].batch)

        return await self._revise(caller, decide)

    async def apply(self, name: str, caller: Caller) -> SettingsOutcome:
        """Apply a profile as one batch: set its values, and reset the keys that only other profiles set.

        The keys that the environment sets are reset, so that the environment acts.
        """
        fitted = for_library(find_profile(name), self.settings)

        async def decide(stored: Stored) -> SettingsChange:
            wanted = {key: self._profile_value(key, fitted.values.get(key)) for key in sorted(managed_keys())}
            return SettingsChange("apply", await self._checked(stored, wanted), profile=name)

        notes = (*fitted.missing, *self._kept_notes(name, fitted.values))
        return replace(await self._revise(caller, decide), missing=notes, profile=name)

    async def history(self, caller: Caller, *, limit: int, before: int | None = None) -> list[SettingChange]:
        """Return the changes by batch, newest first."""
        require(caller, "administer")
        return await self._store.history(caller.person, limit=limit, before=before)

    async def _revise(self, caller: Caller, decide: Callable[[Stored], Awaitable[SettingsChange]]) -> SettingsOutcome:
        require(caller, "administer")
        changes = await self._store.revise(caller, decide)
        with contextlib.suppress(PinciteError):  # the change is stored: every process, this one included, retries
            await self._reload()
        reindex = [one.key for one in changes if (key := find(one.key)) and key.acts == "index"]
        return SettingsOutcome(changes[0].batch if changes else self._revision, changes, tuple(reindex))

    def _validated(self, name: str, value: Any, stored: Mapping[str, Any]) -> Any:
        """Return the validated value of a change; `Invalid` if the key cannot be changed or the value is wrong."""
        if value is None and name in stored:
            return None
        try:
            key = find_key(name)
            if key.fixed:
                raise Invalid(key.fixed)
            if value is None:
                return None
            return value_of(_shared_layers(self._layers).settings({name: _read_value(key, value)}), name)
        except SettingsError as error:
            raise Invalid(str(error)) from None

    def _profile_value(self, name: str, value: Any) -> Any:
        """Return the value of a profile; None if it equals the configured value, or if the environment sets the key."""
        return None if name in self._layers.environment or value in (None, self.configured(name)) else value

    def _kept_notes(self, profile: str, values: Mapping[str, Any]) -> tuple[str, ...]:
        """A note for each value of a profile that the environment keeps from being used."""
        return tuple(
            f"{key} is {_shown(key, own)}: the environment sets it ({self._layers.variables.get(key, key)}); "
            f"the profile {profile} has {_shown(key, values[key])}"
            for key, own in self._layers.environment.items()
            if key in values and own != values[key] and key not in self._layers.passed
        )

    async def _checked(self, stored: Stored, wanted: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the changes if the settings as a whole are valid with them; otherwise raise `Invalid`."""
        usable, _ = self._usable_changes(stored.values)
        after = {key: value for key, value in {**usable, **wanted}.items() if value is not None and find(key)}
        try:
            _shared_layers(self._layers).settings(after)
            settings = self._layers.settings(after)
            if leaks := _leaking_changes(_shared_layers(self._layers), after) | _leaking_changes(self._layers, after):
                raise Invalid(next(iter(leaks.values())))
            if self._needs_check(wanted):
                await self._check(settings)
        except SettingsError as error:
            raise Invalid(str(error)) from None
        return wanted

    def _needs_check(self, wanted: Mapping[str, Any]) -> bool:
        """Whether the changes need a check of the tools; a reset in safe mode does not, so that it cannot fail."""
        resetting = self.safe and all(value is None for value in wanted.values())
        return not resetting and any(name.startswith(_CHECKED_KEYS) for name in wanted)

    # --- reading ----------------------------------------------------------------------------------------------

    def lines(self) -> list[SettingLine]:
        """Return every setting with its current value and source."""
        return [self.line(name) for name in catalogue()]

    def line(self, name: str) -> SettingLine:
        """Return one setting with its current value and source."""
        try:
            key = find_key(name)
        except SettingsError as error:
            raise Invalid(str(error)) from None
        source, stored = self._layers.source(name, self.changes), self._stored.get(name)
        value = value_of(self.settings, name)
        shadowed = stored if source != "database" else None
        return SettingLine(key, value, source, is_set(self.settings, name), shadowed)

    def configured(self, name: str) -> Any:
        """Return the configured value of a setting, without changes: from the default, the file or the environment."""
        return value_of(_shared_layers(self._layers).settings(), name) if find(name) else None

    def diff_profile(self, name: str) -> tuple[dict[str, tuple[Any, Any]], tuple[str, ...]]:
        """Return what applying a profile would change, as (old, new), and the unmet needs of the profile."""
        fitted = for_library(find_profile(name), self.settings)
        after = {**self.changes, **{key: self._profile_value(key, fitted.values.get(key)) for key in managed_keys()}}
        then = self._layers.settings({key: value for key, value in after.items() if value is not None})
        pairs = {
            key: (value_of(self.settings, key), value_of(then, key)) for key in catalogue() if key in managed_keys()
        }
        notes = (*fitted.missing, *self._kept_notes(name, fitted.values))
        return {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}, notes

    def for_profile(self, name: str, model: str | None = None) -> tuple[Settings, tuple[str, ...]]:
        """Return the settings of a request with a profile, and its unmet needs; `model` is the one it asks for.

        As when the profile is applied, the keys that only other profiles set have their configured value.
        """
        profile = find_profile(name)
        fitted = for_request(profile, self.settings, model)
        others = {key for key in managed_keys() - profile.values.keys() if catalogue()[key].acts == "query"}
        changes = {key: value for key, value in self.changes.items() if key not in others}
        settings = self._layers.settings(changes, profile=fitted.values, revision=self.settings.revision)
        return settings, (*fitted.missing, *self._kept_notes(name, fitted.values))


def _shown(name: str, value: Any) -> str:
    return "a secret" if catalogue()[name].secret else str(without_password(value))


def _shared_layers(layers: SettingsLayers) -> SettingsLayers:
    """Return the layers that all processes share: without the values that the caller of this process passed."""
    return replace(layers, passed={})


def _leaking_changes(layers: SettingsLayers, changes: Mapping[str, Any]) -> dict[str, str]:
    """Return changes that would send a configured API key to another server, with the reason for each."""
    layers = replace(layers, model_keys={})  # these are used with their own server only
    configured, given, found = layers.settings(), {**changes, **layers.passed}, dict[str, str]()
    for branch in [name.removesuffix(".api_key") for name in catalogue() if name.endswith(".api_key")]:
        if not is_set(configured, f"{branch}.api_key"):
            continue
        address = value_of(configured, f"{branch}.base_url")
        if given.get(f"{branch}.base_url", address) != address:
            found[f"{branch}.base_url"] = _KEY_WOULD_LEAK.format(branch=branch, leaf="base_url")
        home = default_address(value_of(configured, f"{branch}.provider")) if find(f"{branch}.provider") else ""
        if not address and default_address(given.get(f"{branch}.provider", "")) not in ("", home):
            found[f"{branch}.provider"] = _KEY_WOULD_LEAK.format(branch=branch, leaf="provider")
    return found


def _read_value(key: Key, value: Any) -> Any:
    if isinstance(value, str) and NAMES_A_PROVIDER.search(key.name) and "." in value:
        raise Invalid(
            f"'{key.name}' accepts a dotted path only from the environment ({key.environment}) or the settings file"
        )
    if isinstance(value, str) and without_login(value) != value:
        raise Invalid(
            f"'{key.name}' contains a password or a query string, and secrets are not stored; "
            f"set {key.environment} instead"
        )
    try:
        return parse_value(key, value)
    except ValueError as error:
        raise Invalid(f"setting '{key.name}' {error}") from None
