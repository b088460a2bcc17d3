"""The audit log: what was done, by whom and from where, and whether all of it is still there."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import JSONResponse

from pincite.api.dependencies import Engine
from pincite.api.middleware.authenticate import Administrator
from pincite.api.paths import API
from pincite.core.accounts.audit import AuditFilter, read_anchor
from pincite.core.times import to_utc
from pincite.serialize import answers
from pincite.serialize.accounts import event_shape, verdict_shape
from pincite.serialize.fields import Body, Name

router = APIRouter(prefix=f"{API}/audit", tags=["audit"])

Word = Annotated[Name | None, Query(min_length=1, max_length=100)]


class VerifyBody(Body):
    """The head that an earlier check told, where one kept it elsewhere: the chain must still pass through it."""

    head: Annotated[Name, Field(max_length=100)] | None = None


@router.get("")
async def events(
    pincite: Engine,
    caller: Administrator,
    event: Word = None,
    person: Word = None,
    since: datetime | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: Annotated[str | None, Query(max_length=20)] = None,
) -> JSONResponse:
    """What was done, newest first; of one kind (`login`, `user`, `user.add` …), by or about somebody, since a time."""
    wanted = AuditFilter(event, person, to_utc(since) if since else None, limit, cursor)
    found, following = await pincite.admin.audit.list(caller.person, wanted)
    return JSONResponse(answers.page([event_shape(one) for one in found], following))


@router.post("/verify")
async def verify(pincite: Engine, caller: Administrator, body: VerifyBody | None = None) -> JSONResponse:
    """Whether no event was changed, removed or cut off at the end."""
    known = read_anchor(body.head) if body and body.head else None
    return JSONResponse(verdict_shape(await pincite.admin.audit.verify(caller.person, known)))
