"""API keys: list, create, revoke."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import JSONResponse

from pincite.api.dependencies import Administrator, Engine
from pincite.api.paths import API
from pincite.core.accounts.access import Role
from pincite.serialize.accounts import key_json
from pincite.serialize.fields import Body, Name
from pincite.serialize.primitives import page_json

router = APIRouter(prefix=f"{API}/keys", tags=["keys"])


class KeyBody(Body):
    """A new key: its name, role and user; by default a reader's key of the caller."""

    name: Annotated[Name, Field(min_length=1, max_length=200)]
    role: Role = "reader"
    user: Annotated[Name, Field(min_length=1, max_length=100)] | None = None
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
