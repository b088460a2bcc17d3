"""Users, groups, API keys, and identities from an OpenID Connect provider."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

PersonRole = Literal["administrator", "editor", "reader"]
"""The role of a user; an API key may have a lower role."""


@dataclass(frozen=True, slots=True)
class Person:
    """A user; one who is suspended cannot log in."""

    id: str
    name: str
    role: PersonRole
    groups: tuple[str, ...]
    suspended: bool
    documents: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Identity:
    """A user as an identity provider reports them: `subject` is the provider's permanent id, `name` the name here."""

    issuer: str
    subject: str
    name: str
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """A group of users; a document can be shared with all of them at once."""

    id: str
    name: str
    members: tuple[str, ...]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ApiKey:
    """The properties of an API key, never the key itself. Its role is limited by the role of its user."""

    id: str
    user: str
    name: str
    role: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


LOGIN_DAYS = 14
"""Days until a login session expires."""
