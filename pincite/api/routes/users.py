"""People and groups: managed by administrators; everybody looks at themselves."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import JSONResponse

from pincite.api.dependencies import Engine
from pincite.api.middleware.authenticate import Administrator, Reader, address_of
from pincite.api.paths import API
from pincite.core.accounts.users import PersonRole
from pincite.serialize import answers
from pincite.serialize.accounts import group_shape, person_shape, usage_shape
from pincite.serialize.fields import Body, Name

router = APIRouter(prefix=API, tags=["people"])

PersonName = Annotated[Name, Field(min_length=1, max_length=100)]
Password = Annotated[Name, Field(max_length=1000)]
Most = Annotated[int, Field(ge=0, le=10**12)]


class PersonBody(Body):
    """A user; without a wish for more they may only read. A password lets them log in, a key is made apart."""

    name: PersonName
    role: PersonRole = "reader"
    password: Password | None = None


class PersonChange(Body):
    """What shall be otherwise about a user; what is left out stays. A limit that is null is that of the settings again."""

    role: PersonRole | None = None
    suspended: bool | None = None
    password: Password | None = None
    limits: dict[Name, Most | None] | None = Field(default=None, max_length=50)


class GroupBody(Body):
    """A group and who is in it."""

    name: PersonName
    members: list[PersonName] = Field(default=[], max_length=1000)


class PasswordChange(Body):
    """One's own password, as it was and as it shall be."""

    old_password: Password
    new_password: Password


@router.get("/users")
async def users(pincite: Engine, caller: Administrator) -> JSONResponse:
    """Every user by name."""
    return JSONResponse(answers.page([person_shape(one) for one in await pincite.admin.users.all(caller.person)]))


@router.post("/users", status_code=201)
async def add(body: PersonBody, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Add a user."""
    made = await pincite.admin.add_user(body.name, body.role, body.password, caller=caller)
    return JSONResponse(person_shape(made), 201)


@router.get("/users/{user_id}")
async def user(user_id: str, pincite: Engine, caller: Administrator) -> JSONResponse:
    """One user."""
    return JSONResponse(person_shape(await pincite.admin.users.get(caller.person, user_id)))


@router.get("/users/{user_id}/usage")
async def usage(user_id: str, pincite: Engine, caller: Administrator) -> JSONResponse:
    """What a user uses, and how much they may."""
    known = await pincite.admin.users.get(caller.person, user_id)
    return JSONResponse(await usage_shape(pincite.admin.quotas, caller.person, known.id))


@router.patch("/users/{user_id}")
async def change(user_id: str, body: PersonChange, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Give a user another role, password or limits, suspend them, or let them in again."""
    known = await pincite.admin.users.get(caller.person, user_id)
    if body.limits:
        await pincite.admin.set_limits(known.id, body.limits, caller=caller)
    if body.password is not None:
        await pincite.admin.logins.set_password(caller.person, known.id, body.password)
    if body.role is not None:
        known = await pincite.admin.users.change_role(caller.person, known.id, body.role)
    if body.suspended is not None:
        known = await pincite.admin.users.suspend(caller.person, known.id, suspended=body.suspended)
    return JSONResponse(person_shape(known))


@router.delete("/users/{user_id}")
async def remove(user_id: str, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Remove a user with their keys and conversations; 409 where documents are theirs."""
    gone = await pincite.admin.users.remove(caller.person, user_id)
    return JSONResponse({"id": gone.id, "removed": True})


@router.get("/groups")
async def groups(pincite: Engine, caller: Administrator) -> JSONResponse:
    """Every group by name."""
    return JSONResponse(answers.page([group_shape(one) for one in await pincite.admin.users.groups(caller.person)]))


@router.post("/groups", status_code=201)
async def add_group(body: GroupBody, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Add a group."""
    members = [(await pincite.admin.users.get(caller.person, name)).id for name in body.members]
    made = await pincite.admin.users.add_group(caller.person, body.name)
    for member in members:
        made = await pincite.admin.users.join(caller.person, made.id, member)
    return JSONResponse(group_shape(made), 201)


@router.get("/groups/{group_id}")
async def group(group_id: str, pincite: Engine, caller: Administrator) -> JSONResponse:
    """One group."""
    return JSONResponse(group_shape(await pincite.admin.users.group(caller.person, group_id)))


@router.put("/groups/{group_id}/members/{user_id}")
async def join(group_id: str, user_id: str, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Put a user into a group: from now on they may read what is shared with it."""
    return JSONResponse(group_shape(await pincite.admin.users.join(caller.person, group_id, user_id)))


@router.delete("/groups/{group_id}/members/{user_id}")
async def leave(group_id: str, user_id: str, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Take a user out of a group."""
    return JSONResponse(group_shape(await pincite.admin.users.leave(caller.person, group_id, user_id)))


@router.delete("/groups/{group_id}")
async def remove_group(group_id: str, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Remove a group: nobody reads anything by it any more."""
    gone = await pincite.admin.users.remove_group(caller.person, group_id)
    return JSONResponse({"id": gone.id, "removed": True})


@router.get("/me")
async def me(pincite: Engine, caller: Reader) -> JSONResponse:
    """Who one is here: id, name, groups, and the role one came in with."""
    return JSONResponse(asdict(await pincite.admin.users.own_profile(caller.person, caller.role)))


@router.get("/me/usage")
async def own_usage(pincite: Engine, caller: Reader) -> JSONResponse:
    """What one uses oneself, and how much one may."""
    return JSONResponse(await usage_shape(pincite.admin.quotas, caller.person, caller.person))


@router.post("/me/password")
async def change_password(body: PasswordChange, request: Request, pincite: Engine, caller: Reader) -> JSONResponse:
    """Change one's own password: all logins end, this one, too."""
    await pincite.admin.logins.change_password(caller.person, body.old_password, body.new_password, address_of(request))
    return JSONResponse({"changed": True})
