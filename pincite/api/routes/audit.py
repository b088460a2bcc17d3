"""The audit log: list its events and verify its hash chain."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import JSONResponse

from pincite.api.dependencies import Administrator, Engine
from pincite.api.paths import API
from pincite.core.accounts.audit import AuditFilter, read_anchor
from pincite.core.times import to_utc
from pincite.serialize.accounts import audit_event_json, chain_check_json
from pincite.serialize.fields import Body, Name
from pincite.serialize.primitives import page_json

router = APIRouter(prefix=f"{API}/audit", tags=["audit"])

FilterText = Annotated[Name | None, Query(min_length=1, max_length=100)]


class VerifyBody(Body):
    """The head of an earlier check; the chain must still contain it."""

    head: Annotated[Name, Field(max_length=100)] | None = None


@router.get("")
async def events(
    pincite: Engine,
    caller: Administrator,
    event: FilterText = None,
    person: FilterText = None,
    since: datetime | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: Annotated[str | None, Query(max_length=20)] = None,
) -> JSONResponse:
    """List events, newest first; filter by kind (`login`, `user`, `user.add` …), by user and by time."""
    wanted = AuditFilter(event, person, to_utc(since) if since else None, limit, cursor)
    found, following = await pincite.admin.audit.list(caller.person, wanted)
    return JSONResponse(page_json([audit_event_json(one) for one in found], following))


@router.post("/verify")
async def verify(pincite: Engine, caller: Administrator, body: VerifyBody | None = None) -> JSONResponse:
    """Check that no event was changed, removed or cut off at the end."""
    known = read_anchor(body.head) if body and body.head else None
    return JSONResponse(chain_check_json(await pincite.admin.audit.verify(caller.person, known)))
