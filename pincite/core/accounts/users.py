"""People and groups, as those who manage them see them, and as somebody else vouches for them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

PersonRole = Literal["administrator", "editor", "reader"]
"""What a person may do; a key may be worth less."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who may come in, unless suspended."""

    id: str
    name: str
    role: PersonRole
    groups: tuple[str, ...]
    suspended: bool
    documents: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Identity:
    """Somebody as a provider knows them: its own id, which stays, the name by which they are known here, their groups."""

    issuer: str
    subject: str
    name: str
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """People with whom something is shared at once."""

    id: str
    name: str
    members: tuple[str, ...]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What is known about a key; never the key itself. It is worth no more than the user whose it is."""

    id: str
    user: str
    name: str
    role: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


LOGIN_DAYS = 14
