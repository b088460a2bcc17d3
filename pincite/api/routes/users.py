"""Users and groups, managed by administrators; and the caller's own account."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import JSONResponse

from pincite.api.dependencies import Administrator, Engine, Reader
from pincite.api.middleware.authenticate import client_address
from pincite.api.paths import API
from pincite.core.accounts.users import PersonRole
from pincite.serialize.accounts import group_json, usage_json, user_json
from pincite.serialize.fields import Body, Name
from pincite.serialize.primitives import page_json

router = APIRouter(prefix=API, tags=["people"])

PersonName = Annotated[Name, Field(min_length=1, max_length=100)]
Password = Annotated[Name, Field(max_length=1000)]
LimitValue = Annotated[int, Field(ge=0, le=10**12)]


class PersonBody(Body):
    """A new user, by default a reader. A password allows login; keys are created separately."""

    name: PersonName
    role: PersonRole = "reader"
    password: Password | None = None


class PersonChange(Body):
    """Changes of a user; omitted fields stay. A limit of null resets it to the setting."""

    role: PersonRole | None = None
    suspended: bool | None = None
    password: Password | None = None
    limits: dict[Name, LimitValue | None] | None = Field(default=None, max_length=50)


class GroupBody(Body):
    """A new group and its members."""

    name: PersonName
    members: list[PersonName] = Field(default=[], max_length=1000)


class PasswordChange(Body):
    """The caller's old and new password."""

    old_password: Password
    new_password: Password


@router.get("/users")
async def users(pincite: Engine, caller: Administrator) -> JSONResponse:
    """List users by name."""
    return JSONResponse(page_json([user_json(one) for one in await pincite.admin.users.all(caller.person)]))


@router.post("/users", status_code=201)
async def add(body: PersonBody, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Add a user."""
    made = await pincite.admin.add_user(body.name, body.role, body.password, caller=caller)
    return JSONResponse(user_json(made), 201)


@router.get("/users/{user_id}")
async def user(user_id: str, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Show one user."""
    return JSONResponse(user_json(await pincite.admin.users.get(caller.person, user_id)))


@router.get("/users/{user_id}/usage")
async def usage(user_id: str, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Show a user's usage and limits."""
    known = await pincite.admin.users.get(caller.person, user_id)
    return JSONResponse(await usage_json(pincite.admin.quotas, caller.person, known.id))


@router.patch("/users/{user_id}")
async def change(user_id: str, body: PersonChange, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Change a user's role, password or limits, or suspend or resume them."""
    known = await pincite.admin.users.get(caller.person, user_id)
    if body.limits:
        await pincite.admin.set_limits(known.id, body.limits, caller=caller)
    if body.password is not None:
        await pincite.admin.logins.set_password(caller.person, known.id, body.password)
    if body.role is not None:
        known = await pincite.admin.users.change_role(caller.person, known.id, body.role)
    if body.suspended is not None:
        known = await pincite.admin.users.suspend(caller.person, known.id, suspended=body.suspended)
    return JSONResponse(user_json(known))


@router.delete("/users/{user_id}")
async def remove(user_id: str, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Remove a user with their keys and sessions; 409 if they own documents."""
    removed = await pincite.admin.users.remove(caller.person, user_id)
    return JSONResponse({"id": removed.id, "removed": True})


@router.get("/groups")
async def groups(pincite: Engine, caller: Administrator) -> JSONResponse:
    """List groups by name."""
    return JSONResponse(page_json([group_json(one) for one in await pincite.admin.users.groups(caller.person)]))


@router.post("/groups", status_code=201)
async def add_group(body: GroupBody, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Add a group."""
    members = [(await pincite.admin.users.get(caller.person, name)).id for name in body.members]
    made = await pincite.admin.users.add_group(caller.person, body.name)
    for member in members:
        made = await pincite.admin.users.join(caller.person, made.id, member)
    return JSONResponse(group_json(made), 201)


@router.get("/groups/{group_id}")
async def group(group_id: str, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Show one group."""
    return JSONResponse(group_json(await pincite.admin.users.group(caller.person, group_id)))


@router.put("/groups/{group_id}/members/{user_id}")
async def join(group_id: str, user_id: str, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Add a user to a group; they can then read what is shared with it."""
    return JSONResponse(group_json(await pincite.admin.users.join(caller.person, group_id, user_id)))


@router.delete("/groups/{group_id}/members/{user_id}")
async def leave(group_id: str, user_id: str, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Remove a user from a group."""
    return JSONResponse(group_json(await pincite.admin.users.leave(caller.person, group_id, user_id)))


@router.delete("/groups/{group_id}")
async def remove_group(group_id: str, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Remove a group, and with it the permissions it gives."""
    removed = await pincite.admin.users.remove_group(caller.person, group_id)
    return JSONResponse({"id": removed.id, "removed": True})


@router.get("/me")
async def me(pincite: Engine, caller: Reader) -> JSONResponse:
    """Show the caller: id, name, groups, and the role of the credential."""
    return JSONResponse(asdict(await pincite.admin.users.own_profile(caller.person, caller.role)))


@router.get("/me/usage")
async def own_usage(pincite: Engine, caller: Reader) -> JSONResponse:
    """Show the caller's own usage and limits."""
    return JSONResponse(await usage_json(pincite.admin.quotas, caller.person, caller.person))


@router.post("/me/password")
async def change_password(body: PasswordChange, request: Request, pincite: Engine, caller: Reader) -> JSONResponse:
    """Change the caller's password; all logins end, including this one."""
    await pincite.admin.logins.change_password(
        caller.person, body.old_password, body.new_password, client_address(request)
    )
    return JSONResponse({"changed": True})
