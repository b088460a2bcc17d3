"""API keys: list, create, revoke; administrators for everybody, other users for themselves."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import JSONResponse

from pincite.api.dependencies import Administrator, Engine, Reader
from pincite.api.paths import API
from pincite.core.accounts.access import Role, may_give
from pincite.errors import NotAllowed, NotFound
from pincite.serialize.accounts import key_json
from pincite.serialize.fields import Body, Name
from pincite.serialize.primitives import page_json

router = APIRouter(prefix=f"{API}/keys", tags=["keys"])
own_router = APIRouter(prefix=f"{API}/me/keys", tags=["keys"])


class KeyBody(Body):
    """A new key: its name, role and user; by default a reader's key of the caller."""

    name: Annotated[Name, Field(min_length=1, max_length=200)]
    role: Role = "reader"
    user: Annotated[Name, Field(min_length=1, max_length=100)] | None = None
    expires_days: int | None = Field(default=None, ge=1, le=3650)


class OwnKeyBody(Body):
    """A new key of the caller: its name, role and days."""

    name: Annotated[Name, Field(min_length=1, max_length=200)]
    role: Role = "reader"
    expires_days: int | None = Field(default=None, ge=1, le=3650)


@router.get("")
async def keys(pincite: Engine, caller: Administrator) -> JSONResponse:
    """List all keys, newest first, without their secrets."""
    return JSONResponse(page_json([key_json(one) for one in await pincite.admin.keys.all(caller.person)]))


@router.post("", status_code=201)
async def create(body: KeyBody, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Create a key; its secret is returned only here."""
    person = caller.person if body.user is None else (await pincite.admin.users.get(caller.person, body.user)).id
    key, key_id = await pincite.admin.keys.create(person, body.name, body.role, body.expires_days, by=caller.person)
    return JSONResponse({"key": key, "id": key_id, "name": body.name, "role": body.role, "user": person}, 201)


@router.delete("/{key_id}")
async def revoke(key_id: str, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Revoke a key, effective at once."""
    await pincite.admin.keys.revoke(caller.person, key_id)
    return JSONResponse({"id": key_id, "revoked": True})


@own_router.get("")
async def own_keys(pincite: Engine, caller: Reader) -> JSONResponse:
    """List the caller's own keys, newest first, without their secrets."""
    found = [one for one in await pincite.admin.keys.all(caller.person) if one.user == caller.person]
    return JSONResponse(page_json([key_json(one) for one in found]))


@own_router.post("", status_code=201)
async def create_own(body: OwnKeyBody, pincite: Engine, caller: Reader) -> JSONResponse:
    """Create a key of the caller, with at most the caller's role; its secret is returned only here.

    It needs a login: a key that could make others would outlive its own revocation.
    """
    if caller.key_id is not None:
        raise NotAllowed("a key cannot create another key; log in")
    if not may_give(caller, body.role):
        raise NotAllowed(f"a key cannot have a higher role than yours, which is {caller.role}")
    key, key_id = await pincite.admin.keys.create(caller.person, body.name, body.role, body.expires_days)
    return JSONResponse({"key": key, "id": key_id, "name": body.name, "role": body.role, "user": caller.person}, 201)


@own_router.delete("/{key_id}")
async def revoke_own(key_id: str, pincite: Engine, caller: Reader) -> JSONResponse:
    """Revoke a key of the caller, effective at once."""
    if not any(one.id == key_id and one.user == caller.person for one in await pincite.admin.keys.all(caller.person)):
        raise NotFound(f"there is no key '{key_id}'")
    await pincite.admin.keys.revoke(caller.person, key_id)
    return JSONResponse({"id": key_id, "revoked": True})
