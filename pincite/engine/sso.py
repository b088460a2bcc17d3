"""Single sign-on with OpenID Connect: the browser logs in at the provider and returns with an authorization code."""

import hmac
from dataclasses import dataclass

from pincite.config.branches.server import Oidc
from pincite.core.accounts.access import Caller
from pincite.core.accounts.users import Identity
from pincite.errors import Conflict, Invalid
from pincite.outbound.oidc import Attempt, Provider, login_refused
from pincite.store.access.login_sessions import LoginSessions
from pincite.store.access.users import LOCAL, Users

LOGIN_TIMEOUT_S = 600
"""Seconds that a browser has to log in at the provider."""


@dataclass(frozen=True, slots=True)
class Returned:
    """The parameters of the callback URL: code, state and issuer; and the secret from the browser's cookie."""

    code: str
    state: str
    iss: str
    secret: str


class SingleSignOn:
    """Logs in users that the provider authenticated; unknown users are added only if `create_users` is set."""

    def __init__(self, settings: Oidc, people: Users, logins: LoginSessions) -> None:
        self._settings, self._people, self._logins = settings, people, logins
        self._provider = Provider(settings)

    async def begin(self, redirect: str) -> tuple[str, Attempt]:
        """Return the provider's login URL, and the attempt whose secret the browser keeps."""
        attempt = Attempt.new()
        return await self._provider.address(attempt, self._settings.redirect_url or redirect), attempt

    async def finish(self, returned: Returned, redirect: str, address: str) -> tuple[str, Caller]:
        """Complete a login; return the session token and the caller."""
        attempt = Attempt(returned.secret)
        if not returned.secret or not hmac.compare_digest(returned.state.encode(), attempt.state.encode()):
            raise login_refused("the login was started in another browser, or it took too long; start again")
        if returned.iss not in ("", self._provider.issuer):
            raise login_refused("the response came from another provider; start again")
        if not returned.code:
            raise login_refused("the provider refused the login; start again")
        async with self._logins.count_refusals(self._provider.issuer, address):
            identity = await self._provider.identity(attempt, returned.code, self._settings.redirect_url or redirect)
            person = await self._person(identity)
        if self._settings.groups_claim:
            await self._people.set_groups(LOCAL, person, identity.groups)
        return await self._logins.log_in_as(person, self._provider.issuer)

    async def _person(self, identity: Identity) -> str:
        """Return the user id of an identity; a new user is added if the settings allow it."""
        known = await self._logins.person_of(identity)
        if known is None and self._settings.create_users:
            try:
                await self._people.add(LOCAL, identity.name, self._settings.create_role)
            except (Conflict, Invalid) as error:
                raise login_refused(f"you cannot be added here: {error}") from None
            known = await self._logins.person_of(identity)
        if known is None:
            raise login_refused("there is no user with this name; ask an administrator to add you")
        return known
