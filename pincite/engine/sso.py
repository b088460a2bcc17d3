"""Logging in through a provider: a browser is sent there, comes back with a code, and is logged in as who it vouches for."""

import hmac
from dataclasses import dataclass

from pincite.config.branches.server import Oidc
from pincite.core.accounts.access import Caller
from pincite.core.accounts.users import Identity
from pincite.errors import Conflict, Invalid
from pincite.outbound.oidc import Attempt, Provider, refused
from pincite.store.access.login_sessions import LoginSessions
from pincite.store.access.users import LOCAL, Users

LOGIN_TIMEOUT_S = 600
"""How long a browser may be away."""


@dataclass(frozen=True, slots=True)
class Returned:
    """What a browser brings back: in its address a code, the state it was sent away with and who sends it; its secret."""

    code: str
    state: str
    iss: str
    secret: str


class SingleSignOn:
    """Logs people in whom the provider vouches for; who is not known here is added only where a setting says so."""

    def __init__(self, settings: Oidc, people: Users, logins: LoginSessions) -> None:
        self._settings, self._people, self._logins = settings, people, logins
        self._provider = Provider(settings)

    async def begin(self, redirect: str) -> tuple[str, Attempt]:
        """Where to send the browser, and what it keeps meanwhile."""
        attempt = Attempt.new()
        return await self._provider.address(attempt, self._settings.redirect_url or redirect), attempt

    async def finish(self, returned: Returned, redirect: str, address: str) -> tuple[str, Caller]:
        """Log in who came back; what the browser shall hold, and who it is."""
        attempt = Attempt(returned.secret)
        if not returned.secret or not hmac.compare_digest(returned.state.encode(), attempt.state.encode()):
            raise refused("this is not the browser that began it, or it took too long; begin again")
        if returned.iss not in ("", self._provider.issuer):
            raise refused("another provider sent you here")
        if not returned.code:
            raise refused("the provider did not let you in")
        async with self._logins.vouched(self._provider.issuer, address):
            identity = await self._provider.identity(attempt, returned.code, self._settings.redirect_url or redirect)
            person = await self._person(identity)
        if self._settings.groups_claim:
            await self._people.put_into(LOCAL, person, identity.groups)
        return await self._logins.log_in_as(person, self._provider.issuer)

    async def _person(self, identity: Identity) -> str:
        """Whose login this is; somebody new where the settings allow it."""
        known = await self._logins.vouched_for(identity)
        if known is None and self._settings.create_users:
            try:
                await self._people.add(LOCAL, identity.name, self._settings.create_role)
            except (Conflict, Invalid) as error:
                raise refused(f"you cannot be added here: {error}") from None
            known = await self._logins.vouched_for(identity)
        if known is None:
            raise refused("nobody here goes by that name; ask an administrator to add you")
        return known
