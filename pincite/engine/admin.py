"""Administration: users, keys, settings, the index, health."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pincite.config.branches.generation import Fallback, Llm
from pincite.config.model_keys import ModelKey
from pincite.core.accounts.access import LOCAL, Caller, require
from pincite.core.accounts.audit import AuditEntry
from pincite.core.accounts.users import Person, PersonRole
from pincite.core.documents.document import Progress
from pincite.core.documents.jobs import BULK_PRIORITY
from pincite.core.engines import BuildProgress, BuiltEngine
from pincite.core.protocols import LLM, Embedder, Reranker
from pincite.core.run import Kit
from pincite.engine.index.builders import builder_of
from pincite.engine.index.switch import IndexSwitch
from pincite.engine.live_settings import LiveSettings, SettingsOutcome
from pincite.engine.quotas import Quotas
from pincite.engine.sso import SingleSignOn
from pincite.engine.wiring import Services
from pincite.errors import Conflict, Invalid, NotAllowed
from pincite.ingest.engines.builder import Builder, BuildsShared
from pincite.store.access.api_keys import ApiKeys
from pincite.store.access.audit_log import AuditLog
from pincite.store.access.login_sessions import LoginSessions
from pincite.store.access.passwords import check_new_password
from pincite.store.access.users import Users
from pincite.store.database import health
from pincite.store.operations.traces import library_sizes
from pincite.tracing.metrics import Metrics

POLL_S = 0.1
"""Seconds between two looks at the progress of builds."""


class Admin:
    """The operations of administrators and of the server process."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @property
    def users(self) -> Users:
        """Users and groups."""
        return self._services.users

    @property
    def keys(self) -> ApiKeys:
        """API keys."""
        return self._services.keys

    @property
    def logins(self) -> LoginSessions:
        """Passwords and login sessions."""
        return self._services.logins

    @property
    def sso(self) -> SingleSignOn | None:
        """Login through an OpenID Connect provider, where one is configured."""
        return self._services.sso

    @property
    def audit(self) -> AuditLog:
        """The audit log."""
        return self._services.audit

    @property
    def quotas(self) -> Quotas:
        """The usage limits of users, and their usage."""
        return self._services.quotas

    @property
    def settings(self) -> LiveSettings:
        """The current settings, their history, and changes to them."""
        return self._services.live_settings

    @property
    def index(self) -> IndexSwitch:
        """The index in service, and the one being built."""
        return self._services.index_switch

    @property
    def metrics(self) -> Metrics:
        """Counters of this process."""
        return self._services.metrics

    @property
    def embedder(self) -> Embedder:
        """The embedder of the index in service."""
        return self._services.embedder

    @property
    def worker(self) -> str:
        """The worker name of this process."""
        return self._services.workers.name

    def start_workers(self) -> None:
        """Start the ingest workers of this process."""
        self._services.workers.start()

    def kit(self) -> Kit:
        """Return the language models and the reranker of the current settings."""
        return self._services.kit_factory.kit(self._services.settings)

    async def set_model(
        self, provider: str, base_url: str, model: str, api_key: str | None, *, caller: Caller
    ) -> SettingsOutcome:
        """Set the language model of all questions. An empty key removes the stored one, None keeps it."""
        values = {"llm.provider": provider, "llm.base_url": base_url, "llm.model": model}
        outcome = await self.settings.set({name: value or None for name, value in values.items()}, caller)
        if api_key is not None:
            key = ModelKey(provider, base_url, api_key) if api_key else None
            await self.settings.set_model_key("llm", key, caller)
            entry = AuditEntry("settings.set", details={"llm.api_key": "set" if api_key else "removed"})
            await self._services.audit.record(caller.person, entry)
        return outcome

    def plain_llm(self, chosen: Llm | Fallback) -> LLM | None:
        """Return a configured language model without retries and timeouts; None if none is configured."""
        return self._services.kit_factory.plain(self._services.settings, chosen)

    def plain_reranker(self) -> Reranker | None:
        """Return the configured reranker without retries and timeouts."""
        return self._services.kit_factory.plain_reranker(self._services.settings)

    async def health(self, caller: Caller | None = None) -> Mapping[str, Any]:
        """Return the state of the database; `StoreDown` if it does not answer."""
        return await health(self._services.database, caller.person if caller else "")

    async def sizes(self) -> Mapping[str, Mapping[str, float]]:
        """Return the numbers of documents, chunks and jobs."""
        return await library_sizes(self._services.database)

    async def set_limits(self, user_id: str, limits: Mapping[str, int | None], *, caller: Caller = LOCAL) -> None:
        """Set the limits of a user; None restores the default."""
        await self._services.usage.allow(caller.person, user_id, limits)

    async def reindex(
        self,
        document_ids: Sequence[str] | None = None,
        *,
        stale: bool = False,
        hold: bool = False,
        caller: Caller = LOCAL,
    ) -> int:
        """Reindex documents in the background; return the number of queued documents.

        If the settings ask for another embedder or chunking, a new index of all documents is built while the current
        one stays in service. The switch follows when the last document is done or, with `hold`, on request.
        """
        scope = await self._services.scope(caller)
        if document_ids is None and (await self._services.index_switch.status()).wanting:
            require(caller, "administer")
            await self._services.index_switch.build(held=hold)
            built = (await self._services.index_switch.status()).building
            count = built.waiting if built else 0
        else:
            if document_ids is not None:
                await self._services.library.require_owned(scope, document_ids)
            wanted = self._services.prepared.new if stale else None
            count = len(await self._services.uploads.reindex(scope, document_ids, stale=wanted, priority=BULK_PRIORITY))
        self._services.workers.wake()
        return count

    async def build(
        self, engine: BuiltEngine, document_ids: Sequence[str] | None = None, *, caller: Caller = LOCAL
    ) -> int:
        """Have an engine's data built in the background; return the number of the caller's documents to build.

        These are the documents without it, or the ones named, which are built again.
        """
        scope = await self._services.scope(caller)
        builder = builder_of(engine, self._services.builders())
        if document_ids is not None:
            await self._services.library.require_owned(scope, document_ids)
        await self._services.engine_builds.restart(engine, scope, document_ids)
        self._services.workers.wake()
        progress = await self._services.engine_builds.progress(engine, scope, builder.signature)
        return progress.documents - progress.built

    async def wait_until_built(
        self, *, caller: Caller = LOCAL, report: Callable[[Progress], None] | None = None
    ) -> Mapping[BuiltEngine, BuildProgress]:
        """Wait until the engines of the settings have built all documents of the caller, by any process."""
        scope, ended = await self._services.scope(caller), dict[BuiltEngine, BuildProgress]()
        for builder in self._services.builders():
            while True:
                done = await self._services.engine_builds.progress(builder.engine, scope, builder.signature)
                if report:
                    report(Progress(f"building {builder.engine}", done.built, done.documents, 0.0))
                if done.built >= done.documents and not await _shared_left(builder):
                    break
                await asyncio.sleep(POLL_S)
            ended[builder.engine] = done
        return ended

    async def switch_index(self, *, anyway: bool = False, caller: Caller = LOCAL) -> None:
        """Put the new index into service; `Conflict` if it is not complete."""
        require(caller, "administer")
        built = (await self._services.index_switch.status()).building
        if built is None:
            raise Conflict("no index is being built; change the settings, then: pincite reindex")
        if not await self._services.index_switch.switch(anyway=anyway):
            raise Conflict(
                f"the new index is not complete: {built.built} of {built.documents} documents are indexed, "
                f"{built.waiting} wait"
            )
        await self._services.audit.record(
            caller.person, AuditEntry("index.switch", details={"documents": built.documents})
        )
        await self._services.live_settings.renew()

    async def roll_back_index(self, *, caller: Caller = LOCAL) -> None:
        """Return to the previous index, at once or as soon as the documents added since are in it."""
        require(caller, "administer")
        await self._services.index_switch.roll_back()
        await self._services.audit.record(caller.person, AuditEntry("index.rollback"))
        self._services.workers.wake()
        await self._services.live_settings.renew()

    async def discard_index(self, *, caller: Caller = LOCAL) -> int:
        """Discard the index that is being built or, without one, the standby indexes."""
        require(caller, "administer")
        discarded = await self._services.index_switch.discard()
        await self._services.audit.record(caller.person, AuditEntry("index.discard", details={"discarded": discarded}))
        await self._services.editions.clear_abandoned()
        return discarded

    async def add_user(
        self, name: str, role: PersonRole, password: str | None = None, *, caller: Caller = LOCAL
    ) -> Person:
        """Add a user; without a password, they need an API key."""
        if password is not None:
            check_new_password(password)
        person = await self._services.users.add(caller.person, name, role)
        if password is not None:
            await self._services.logins.set_password(caller.person, person.id, password)
        return person

    async def hand_over(self, name: str, to: str, *, caller: Caller = LOCAL) -> int:
        """Transfer all documents of a user to another, with access to the data folder only; return their number."""
        old_owner = await self._services.users.get(caller.person, name)
        new_owner = await self._services.users.get(caller.person, to)
        if old_owner.id == new_owner.id:
            raise Invalid(f"'{new_owner.name}' owns these documents already; name another user")
        count = await self._services.permissions.hand_over(caller.person, old_owner, new_owner)
        for person in (old_owner, new_owner):
            self._services.folders.clear_cache(person.id)
        details = {"to": new_owner.id, "documents": count}
        await self._services.audit.record(
            caller.person, AuditEntry("user.hand_over", f"user:{old_owner.id}", details=details)
        )
        return count

    async def read_as(self, caller: Caller, owner: str, at: str) -> Caller:
        """Return a read-only caller that lets an administrator read another user's data.

        `access.administrators_read` must allow it. The access is written to the audit log first.
        """
        require(caller, "administer")
        if not self._services.settings.access.administrators_read:
            raise NotAllowed(
                "administrators may not read the data of other users here (access.administrators_read)",
                code="content_closed",
            )
        person = await self._services.users.get(caller.person, owner)
        await self._services.audit.record(
            caller.person, AuditEntry("content.read", f"user:{person.id}", details={"at": at})
        )
        return Caller(person.id, "reader", caller.key_id)


async def _shared_left(builder: Builder) -> int:
    """Return the number of things that several documents share and that are not built yet."""
    return await builder.unfinished() if isinstance(builder, BuildsShared) else 0
