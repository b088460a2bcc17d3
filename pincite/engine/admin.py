"""Administration: users, keys, settings, the index, health."""

from collections.abc import Mapping, Sequence
from typing import Any

from pincite.config.branches.generation import Fallback, Llm
from pincite.core.accounts.access import LOCAL, Caller, require
from pincite.core.accounts.audit import AuditEntry
from pincite.core.accounts.users import Person, PersonRole
from pincite.core.documents.jobs import BULK_PRIORITY
from pincite.core.protocols import LLM, Embedder, Reranker
from pincite.core.run import Kit
from pincite.engine.index.switch import IndexSwitch
from pincite.engine.live_settings import LiveSettings
from pincite.engine.quotas import Quotas
from pincite.engine.sso import SingleSignOn
from pincite.engine.wiring import Services
from pincite.errors import Conflict, Invalid, NotAllowed
from pincite.store.access.api_keys import ApiKeys
from pincite.store.access.audit_log import AuditLog
from pincite.store.access.login_sessions import LoginSessions
from pincite.store.access.passwords import check_new
from pincite.store.access.users import Users
from pincite.store.database import health
from pincite.store.operations.traces import sizes
from pincite.tracing.metrics import Metrics


class Admin:
    """What administrators do, and what the service needs to run."""

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
        """How much each user may use, and has used."""
        return self._services.quotas

    @property
    def settings(self) -> LiveSettings:
        """The settings in force, their history, and changes to them."""
        return self._services.live_settings

    @property
    def index(self) -> IndexSwitch:
        """The index that is searched and the one that is built beside it."""
        return self._services.index_switch

    @property
    def metrics(self) -> Metrics:
        """Counters of this process."""
        return self._services.metrics

    @property
    def embedder(self) -> Embedder:
        """The embedder of the index that is searched."""
        return self._services.embedder

    @property
    def worker(self) -> str:
        """The name of this process among those that work on documents."""
        return self._services.workers.name

    def start_workers(self) -> None:
        """Process documents in this process."""
        self._services.workers.start()

    def kit(self) -> Kit:
        """The language models and the reranker that the settings in force ask for."""
        return self._services.kit_factory.kit(self._services.settings)

    def plain_llm(self, chosen: Llm | Fallback) -> LLM | None:
        """A configured language model without retries and time-outs around it; None where none is configured."""
        return self._services.kit_factory.plain(self._services.settings, chosen)

    def plain_reranker(self) -> Reranker | None:
        """The configured reranker without retries and time-outs around it."""
        return self._services.kit_factory.plain_reranker(self._services.settings)

    async def health(self, caller: Caller | None = None) -> Mapping[str, Any]:
        """The database's state; `StoreDown` where it does not answer."""
        return await health(self._services.database, caller.person if caller else "")

    async def sizes(self) -> Mapping[str, Mapping[str, float]]:
        """How much there is: documents, chunks, jobs."""
        return await sizes(self._services.database)

    async def set_limits(self, user_id: str, limits: Mapping[str, int | None], *, caller: Caller = LOCAL) -> None:
        """Give a user limits of their own; None returns to the default."""
        await self._services.usage.allow(caller.person, user_id, limits)

    async def reindex(
        self,
        document_ids: Sequence[str] | None = None,
        *,
        stale: bool = False,
        hold: bool = False,
        caller: Caller = LOCAL,
    ) -> int:
        """Index documents anew in the background; returns how many wait for it.

        Where the settings ask for another model or another way of cutting, all are built beside what is searched, and
        one switch is made when the last is done; with `hold`, when somebody says so.
        """
        scope = await self._services.scope(caller)
        if document_ids is None and (await self._services.index_switch.standing()).wanting:
            require(caller, "administer")
            await self._services.index_switch.build(held=hold)
            built = (await self._services.index_switch.standing()).building
            count = built.waiting if built else 0
        else:
            if document_ids is not None:
                await self._services.library.owned(scope, document_ids)
            wanted = self._services.prepared.signature if stale else None
            count = len(await self._services.uploads.again(scope, document_ids, stale=wanted, priority=BULK_PRIORITY))
        self._services.workers.wake()
        return count

    async def switch_index(self, *, anyway: bool = False, caller: Caller = LOCAL) -> None:
        """Search the index that was built; `Conflict` where it is not complete."""
        require(caller, "administer")
        built = (await self._services.index_switch.standing()).building
        if built is None:
            raise Conflict("no index is being built; change the settings, then: pincite reindex")
        if not await self._services.index_switch.switch(anyway=anyway):
            raise Conflict(
                f"{built.built} of {built.documents} documents are built, {built.waiting} wait; a switch is made of all"
            )
        await self._services.audit.record(
            caller.person, AuditEntry("index.switch", details={"documents": built.documents})
        )
        await self._services.live_settings.renew()

    async def roll_back_index(self, *, caller: Caller = LOCAL) -> None:
        """Return to the index that was searched before, at once or as soon as what came since is built."""
        require(caller, "administer")
        await self._services.index_switch.back()
        await self._services.audit.record(caller.person, AuditEntry("index.rollback"))
        self._services.workers.wake()
        await self._services.live_settings.renew()

    async def discard_index(self, *, caller: Caller = LOCAL) -> int:
        """Let go of the index that is being built, or else of those that stand by."""
        require(caller, "administer")
        discarded = await self._services.index_switch.discard()
        await self._services.audit.record(caller.person, AuditEntry("index.discard", details={"discarded": discarded}))
        await self._services.editions.clear_abandoned()
        return discarded

    async def add_user(
        self, name: str, role: PersonRole, password: str | None = None, *, caller: Caller = LOCAL
    ) -> Person:
        """Add somebody who may come in, with a password or, once one is made for them, with a key."""
        if password is not None:
            check_new(password)
        person = await self._services.users.add(caller.person, name, role)
        if password is not None:
            await self._services.logins.set_password(caller.person, person.id, password)
        return person

    async def hand_over(self, name: str, to: str, *, caller: Caller = LOCAL) -> int:
        """Give all documents of a user to another; only whoever owns the data folder does. How many there were."""
        whose, heir = (
            await self._services.users.get(caller.person, name),
            await self._services.users.get(caller.person, to),
        )
        if whose.id == heir.id:
            raise Invalid(f"'{heir.name}' cannot take over from themselves")
        handed = await self._services.permissions.hand_over(caller.person, whose, heir)
        for person in (whose, heir):
            self._services.folders.forget_furnished(person.id)
        details = {"to": heir.id, "documents": handed}
        await self._services.audit.record(
            caller.person, AuditEntry("user.hand_over", f"user:{whose.id}", details=details)
        )
        return handed

    async def read_as(self, caller: Caller, owner: str, at: str) -> Caller:
        """Who an administrator reads as who looks at another's things: that one, without a right to change any.

        Where a setting allows it; and what is looked at is in the audit log before it is seen.
        """
        require(caller, "administer")
        if not self._services.settings.access.administrators_read:
            raise NotAllowed(
                "administrators may not look at what belongs to others here (access.administrators_read)",
                code="content_closed",
            )
        person = await self._services.users.get(caller.person, owner)
        await self._services.audit.record(
            caller.person, AuditEntry("content.read", f"user:{person.id}", details={"at": at})
        )
        return Caller(person.id, "reader", caller.key_id)
