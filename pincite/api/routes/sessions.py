"""Sessions: stored conversations, each visible to its owner only."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import JSONResponse

from pincite.api.dependencies import Engine, Reader, ReaderAsOwner
from pincite.api.paths import API
from pincite.errors import Invalid
from pincite.serialize.fields import Body, Name
from pincite.serialize.primitives import page_json
from pincite.serialize.sessions import session_json

router = APIRouter(prefix=f"{API}/sessions", tags=["sessions"])


class SessionBody(Body):
    """A session's new title."""

    title: Annotated[Name, Field(min_length=1, max_length=200)]


@router.get("")
async def sessions(
    pincite: Engine,
    caller: ReaderAsOwner,
    q: Annotated[str | None, Query(max_length=2000)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Query(max_length=500)] = None,
) -> JSONResponse:
    """List sessions without their turns, most recently used first; `q` searches their text."""
    found, following = await pincite.questions.sessions.list(
        await pincite.scope(caller), q=q, limit=limit, cursor=cursor
    )
    return JSONResponse(page_json([session_json(one, turns=False) for one in found], following))


@router.delete("")
async def remove_all(pincite: Engine, caller: Reader, all: bool = False) -> JSONResponse:
    """Remove all sessions of the caller."""
    if not all:
        raise Invalid("this removes every session; confirm with ?all=true")
    return JSONResponse({"removed": await pincite.questions.sessions.remove_all(await pincite.scope(caller))})


@router.get("/{session_id}")
async def session(session_id: str, pincite: Engine, caller: ReaderAsOwner) -> JSONResponse:
    """Show one session with its turns."""
    found = await pincite.questions.sessions.get(await pincite.scope(caller), session_id)
    return JSONResponse(session_json(found, turns=True))


@router.patch("/{session_id}")
async def rename(session_id: str, body: SessionBody, pincite: Engine, caller: Reader) -> JSONResponse:
    """Rename a session."""
    found = await pincite.questions.sessions.rename(await pincite.scope(caller), session_id, body.title)
    return JSONResponse(session_json(found, turns=False))


@router.delete("/{session_id}")
async def remove(session_id: str, pincite: Engine, caller: Reader) -> JSONResponse:
    """Remove a session and its turns."""
    await pincite.questions.sessions.remove(await pincite.scope(caller), session_id)
    return JSONResponse({"id": session_id, "removed": True})
