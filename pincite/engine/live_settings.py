"""The settings in force: an administrator's changes over what was configured, the same in every process within a second."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pincite.concurrency import cancel_and_wait
from pincite.config.profiles import find_profile, for_library, for_request, managed
from pincite.config.schema import NAMES_A_PROVIDER, Key, catalogue, find, is_set, parsed, value_of
from pincite.config.settings import Settings
from pincite.config.sources import SettingsLayers, Source, known
from pincite.core.accounts.access import Caller, require
from pincite.core.operations import SettingChange
from pincite.errors import Invalid, PinciteError, SettingsError
from pincite.models.kit_factory import home_of
from pincite.store.operations.settings import SettingsChange, Stored, StoredSettings
from pincite.text.sentences import without_login

log = logging.getLogger(__name__)

_CHECKED_KEYS = ("llm.", "embedding.", "rag.reranker", "rerank.")
"""A change of these is tried out before it is stored."""
_KEY_WOULD_LEAK = (
    "'{branch}.{leaf}' cannot be changed while {branch}.api_key is set, or that key would go to the new server; "
    "change both in the environment or the settings file"
)


@dataclass(frozen=True, slots=True)
class SettingLine:
    """A setting as it is now: its value, where that comes from, and what the database says where that does not count."""

    key: Key
    value: Any
    source: Source
    set: bool
    stored: Any = None


@dataclass(frozen=True, slots=True)
class SettingsOutcome:
    """What a change did; `reindex` are the changed keys that ask for it, `missing` what a profile would like besides."""

    revision: int
    changes: tuple[SettingChange, ...]
    reindex: tuple[str, ...]
    missing: tuple[str, ...] = ()
    profile: str | None = None


class LiveSettings:
    """Builds the settings from their layers, changes them for everybody, and follows the changes of others.

    `check` tells whether what a tree of settings needs can be made, or raises; `prepare` makes it; `adopt` puts it into
    force, at once.
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
        self._seen = -1
        self._taking = asyncio.Lock()
        self._following: asyncio.Task[None] | None = None
        self.settings = layers.settings()
        self.changes: Mapping[str, Any] = {}
        self.ignored: Mapping[str, str] = {}

    @property
    def safe(self) -> bool:
        """Whether the database's changes are ignored (PINCITE_SAFE)."""
        return self._layers.safe

    async def open(self) -> None:
        """Take what the database says into force, then follow it."""
        try:
            await self._take()
        except SettingsError as error:
            if self.safe or not self._stored:
                raise
            raise SettingsError(f"{error} (with an administrator's changes; PINCITE_SAFE=1 ignores them)") from error
        self._following = asyncio.create_task(self._store.follow(self._hear))

    async def close(self) -> None:
        """Follow no more."""
        if self._following is not None:
            await cancel_and_wait(self._following)

    async def _hear(self, revision: int) -> None:
        """A revision was seen; whatever goes wrong with it, the settings before it stay in force."""
        if revision == self._seen:
            return
        try:
            await self._take()
        except PinciteError as error:
            log.warning("the settings of revision %s cannot be used here: %s", revision, error)
        except Exception:
            log.exception("the settings of revision %s cannot be used here", revision)

    async def _take(self) -> None:
        async with self._taking:
            stored = await self._store.current()
            if stored.revision == self._seen:
                return
            self._stored = stored.values
            changes, ignored = self._usable(stored.values)
            for reason in ignored.values():
                log.warning("a stored setting does not count: %s", reason)
            if self.safe:
                changes, ignored = {}, dict.fromkeys(stored.values, "PINCITE_SAFE is set")
            try:
                settings = self._layers.settings(changes, revision=stored.revision)
                await self._prepare(settings)
            except SettingsError as error:  # it will not pass; what is only down is tried again with the next look
                self._seen, self.ignored = stored.revision, dict.fromkeys(stored.values, str(error))
                raise
            self._seen, self.settings, self.changes, self.ignored = stored.revision, settings, changes, ignored
            self._adopt(settings)
            if self._following is not None:
                log.info("settings of revision %s are in force", stored.revision)

    async def renew(self) -> None:
        """Prepare and adopt the settings in force once more: what they stand on has changed."""
        async with self._taking:
            await self._prepare(self.settings)
            self._adopt(self.settings)

    def _usable(self, stored: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """Those of the stored changes that count, and why others do not.

        Another version may have written them, or a key may have been configured since that is not for their server.
        """
        usable, ignored = dict[str, Any](), dict[str, str]()
        for name, value in stored.items():
            try:
                known(name)
                _shared_layers(self._layers).settings({name: value})
                usable[name] = value
            except SettingsError as error:
                ignored[name] = str(error)
        ignored |= _leaking_changes(self._layers, usable)
        return {name: value for name, value in usable.items() if name not in ignored}, ignored

    # --- changing ---------------------------------------------------------------------------------------------

    async def set(self, values: Mapping[str, Any], caller: Caller) -> SettingsOutcome:
        """Change settings together, for every process; a value of None takes the change of that key back."""

        async def decide(stored: Stored) -> SettingsChange:
            wanted = {name: self._wanted(name, value, stored.values) for name, value in values.items()}
            taken_back = bool(wanted) and all(value is None for value in wanted.values())
            return SettingsChange("reset" if taken_back else "set", await self._checked(stored, wanted))

        return await self._revise(caller, decide)

    async def undo(self, caller: Caller) -> SettingsOutcome:
        """Take back the newest batch of changes that was not taken back yet."""

        async def decide(stored: Stored) -> SettingsChange:
            if not stored.last:
                raise Invalid("there is no change left to take back")
            before = {change.key: change.before for change in stored.last}
            return SettingsChange("undo", await self._checked(stored, before), undoes=stored.last[0].batch)

        return await self._revise(caller, decide)

    async def apply(self, name: str, caller: Caller) -> SettingsOutcome:
        """Set what a profile sets and take back what only other profiles set, as one batch."""
        fitted = for_library(find_profile(name), self.settings)

        async def decide(stored: Stored) -> SettingsChange:
            wanted = {key: self._pinned(key, fitted.values.get(key)) for key in sorted(managed())}
            return SettingsChange("apply", await self._checked(stored, wanted), profile=name)

        return replace(await self._revise(caller, decide), missing=fitted.missing, profile=name)

    async def history(self, caller: Caller, *, limit: int, before: int | None = None) -> list[SettingChange]:
        """What was changed, newest first, by batches."""
        require(caller, "administer")
        return await self._store.history(caller.person, limit=limit, before=before)

    async def _revise(self, caller: Caller, decide: Callable[[Stored], Awaitable[SettingsChange]]) -> SettingsOutcome:
        require(caller, "administer")
        changes = await self._store.revise(caller, decide)
        with contextlib.suppress(PinciteError):  # it is stored: whoever follows takes it, this process included
            await self._take()
        reindex = [one.key for one in changes if (key := find(one.key)) and key.acts == "index"]
        return SettingsOutcome(changes[0].batch if changes else self._seen, changes, tuple(reindex))

    def _wanted(self, name: str, value: Any, stored: Mapping[str, Any]) -> Any:
        """A value somebody wishes for, or the reason why it cannot be changed here."""
        if value is None and name in stored:
            return None
        try:
            key = known(name)
            if key.fixed:
                raise Invalid(key.fixed)
            if value is None:
                return None
            return value_of(_shared_layers(self._layers).settings({name: _read_value(key, value)}), name)
        except SettingsError as error:
            raise Invalid(str(error)) from None

    def _pinned(self, name: str, value: Any) -> Any:
        """A profile's value; None where it is what was configured anyway."""
        return None if value is None or value == self.configured(name) else value

    async def _checked(self, stored: Stored, wanted: Mapping[str, Any]) -> Mapping[str, Any]:
        """The same changes, if the whole tree works with them."""
        usable, _ = self._usable(stored.values)
        after = {key: value for key, value in {**usable, **wanted}.items() if value is not None and find(key)}
        try:
            _shared_layers(self._layers).settings(after)
            settings = self._layers.settings(after)
            if leaks := _leaking_changes(_shared_layers(self._layers), after) | _leaking_changes(self._layers, after):
                raise Invalid(next(iter(leaks.values())))
            if self._needs_trying(wanted):
                await self._check(settings)
        except SettingsError as error:
            raise Invalid(str(error)) from None
        return wanted

    def _needs_trying(self, wanted: Mapping[str, Any]) -> bool:
        """Whether tools change; in safe mode one of several bad changes may be taken back before the next."""
        mending = self.safe and all(value is None for value in wanted.values())
        return not mending and any(name.startswith(_CHECKED_KEYS) for name in wanted)

    # --- showing ----------------------------------------------------------------------------------------------

    def lines(self) -> list[SettingLine]:
        """Every setting as it is now."""
        return [self.line(name) for name in catalogue()]

    def line(self, name: str) -> SettingLine:
        """One setting as it is now."""
        try:
            key = known(name)
        except SettingsError as error:
            raise Invalid(str(error)) from None
        source, stored = self._layers.source(name, self.changes), self._stored.get(name)
        value = value_of(self.settings, name)
        shadowed = stored if source != "database" else None
        return SettingLine(key, value, source, is_set(self.settings, name), shadowed)

    def configured(self, name: str) -> Any:
        """What a setting is without anybody's changes: as the default, the file or the environment says."""
        return value_of(_shared_layers(self._layers).settings(), name) if find(name) else None

    def against(self, name: str) -> tuple[dict[str, tuple[Any, Any]], tuple[str, ...]]:
        """What applying a profile would change, from and to, and what it would like besides."""
        fitted = for_library(find_profile(name), self.settings)
        after = {**self.changes, **{key: self._pinned(key, fitted.values.get(key)) for key in managed()}}
        then = self._layers.settings({key: value for key, value in after.items() if value is not None})
        pairs = {key: (value_of(self.settings, key), value_of(then, key)) for key in catalogue() if key in managed()}
        return {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}, fitted.missing

    def profiled(self, name: str) -> tuple[Settings, tuple[str, ...]]:
        """The settings of a request that names a profile, and what that would like besides."""
        fitted = for_request(find_profile(name), self.settings)
        settings = self._layers.settings(self.changes, profile=fitted.values, revision=self.settings.revision)
        return settings, fitted.missing


def _shared_layers(layers: SettingsLayers) -> SettingsLayers:
    """What holds for every process: without what the caller of this one passed."""
    return replace(layers, passed={})


def _leaking_changes(layers: SettingsLayers, changes: Mapping[str, Any]) -> dict[str, str]:
    """Changes that would send a key to a server it was not configured with, by another address or another provider's."""
    configured, given, found = layers.settings(), {**changes, **layers.passed}, dict[str, str]()
    for branch in [name.removesuffix(".api_key") for name in catalogue() if name.endswith(".api_key")]:
        if not is_set(configured, f"{branch}.api_key"):
            continue
        address = value_of(configured, f"{branch}.base_url")
        if given.get(f"{branch}.base_url", address) != address:
            found[f"{branch}.base_url"] = _KEY_WOULD_LEAK.format(branch=branch, leaf="base_url")
        home = home_of(value_of(configured, f"{branch}.provider")) if find(f"{branch}.provider") else ""
        if not address and home_of(given.get(f"{branch}.provider", "")) not in ("", home):
            found[f"{branch}.provider"] = _KEY_WOULD_LEAK.format(branch=branch, leaf="provider")
    return found


def _read_value(key: Key, value: Any) -> Any:
    if isinstance(value, str) and NAMES_A_PROVIDER.search(key.name) and "." in value:
        raise Invalid(
            f"'{key.name}' takes a dotted path only from the environment ({key.environment}) or the settings file"
        )
    if isinstance(value, str) and without_login(value) != value:
        raise Invalid(f"'{key.name}' holds a password or a query, and secrets are never stored; set {key.environment} "
                      "instead")  # fmt: skip
    try:
        return parsed(key, value)
    except ValueError as error:
        raise Invalid(f"setting '{key.name}' {error}") from None
