"""Keys: made, listed, revoked."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import JSONResponse

from pincite.api.dependencies import Engine
from pincite.api.middleware.authenticate import Administrator
from pincite.api.paths import API
from pincite.core.accounts.access import Role
from pincite.serialize.accounts import key_json
from pincite.serialize.fields import Body, Name
from pincite.serialize.primitives import page_json

router = APIRouter(prefix=f"{API}/keys", tags=["keys"])


class KeyBody(Body):
    """A key's name, whose it is and what it may do; without a wish for more it is one's own and may only read."""

    name: Annotated[Name, Field(min_length=1, max_length=200)]
    role: Role = "reader"
    user: Annotated[Name, Field(min_length=1, max_length=100)] | None = None
    expires_days: int | None = Field(default=None, ge=1, le=3650)


@router.get("")
async def keys(pincite: Engine, caller: Administrator) -> JSONResponse:
    """Every key, newest first; never the keys themselves."""
    return JSONResponse(page_json([key_json(one) for one in await pincite.admin.keys.all(caller.person)]))


@router.post("", status_code=201)
async def create(body: KeyBody, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Make a key; this answer is the only place where it is ever seen."""
    person = caller.person if body.user is None else (await pincite.admin.users.get(caller.person, body.user)).id
    key, key_id = await pincite.admin.keys.create(person, body.name, body.role, body.expires_days, by=caller.person)
    return JSONResponse({"key": key, "id": key_id, "name": body.name, "role": body.role, "user": person}, 201)


@router.delete("/{key_id}")
async def revoke(key_id: str, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Revoke a key; it counts no more from this moment on."""
    await pincite.admin.keys.revoke(caller.person, key_id)
    return JSONResponse({"id": key_id, "revoked": True})
