"""The audit log: what was done, by whom and from where, and whether all of it is still there."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import JSONResponse

from pincite.api.dependencies import Engine
from pincite.api.middleware.authenticate import Administrator
from pincite.api.paths import API
from pincite.core.accounts.audit import AuditEvent, Verdict
from pincite.serialize import answers
from pincite.serialize.fields import Body, Name
from pincite.store.access.audit_log import AuditFilter, read_anchor
from pincite.store.cursors import utc

router = APIRouter(prefix=f"{API}/audit", tags=["audit"])

Word = Annotated[Name | None, Query(min_length=1, max_length=100)]


class VerifyBody(Body):
    """The head that an earlier check told, where one kept it elsewhere: the chain must still pass through it."""

    head: Annotated[Name, Field(max_length=100)] | None = None


def event_shape(value: AuditEvent) -> answers.Json:
    """An event."""
    return asdict(value) | {"at": answers.moment(value.at)}


def verdict_shape(value: Verdict) -> answers.Json:
    """How checking the chain went; `events` is how many of them hold."""
    return {
        "ok": value.fault is None,
        "events": value.reached.number,
        "head": str(value.reached),
        "fault": value.fault,
    }


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
    wanted = AuditFilter(event, person, utc(since) if since else None, limit, cursor)
    found, following = await pincite.audit.list(caller.person, wanted)
    return JSONResponse(answers.page([event_shape(one) for one in found], following))


@router.post("/verify")
async def verify(pincite: Engine, caller: Administrator, body: VerifyBody | None = None) -> JSONResponse:
    """Whether no event was changed, removed or cut off at the end."""
    known = read_anchor(body.head) if body and body.head else None
    return JSONResponse(verdict_shape(await pincite.audit.verify(caller.person, known)))
