"""Shares: single answers by link, their sources with the reader's own rights."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import JSONResponse

from pincite.api.dependencies import Engine
from pincite.api.middleware.authenticate import Reader
from pincite.api.paths import API
from pincite.core.accounts.conversations import SHARE_LINK_PREFIX
from pincite.errors import Invalid
from pincite.serialize.accounts import share_json, shared_answer_json
from pincite.serialize.fields import Body, Name
from pincite.serialize.primitives import page_json

router = APIRouter(prefix=f"{API}/shares", tags=["shares"])


class ShareBody(Body):
    """Which answer to share, and for how many days."""

    answer_id: Annotated[Name, Field(min_length=1, max_length=100)]
    expires_days: int | None = Field(default=None, ge=1, le=3650)


@router.get("")
async def shares(pincite: Engine, caller: Reader) -> JSONResponse:
    """One's own links that count, newest first; never the links themselves."""
    found = await pincite.questions.share_links.all(await pincite.scope(caller))
    return JSONResponse(page_json([share_json(one) for one in found]))


@router.post("", status_code=201)
async def create(body: ShareBody, pincite: Engine, caller: Reader) -> JSONResponse:
    """Share an answer of one's own; this is the only time the link, which is the `id`, is seen."""
    longest = pincite.settings.conversation.share_days
    if (days := body.expires_days or longest) > longest:
        raise Invalid(f"an answer can be shared for {longest} days at most (conversation.share_days)")
    link, made = await pincite.questions.share_links.create(await pincite.scope(caller), body.answer_id, days)
    return JSONResponse(share_json(made) | {"id": link, "link": f"{API}/shares/{link}"}, 201)


@router.get("/{share_id}")
async def show(share_id: str, pincite: Engine, caller: Reader) -> JSONResponse:
    """The answer behind a link, with what the caller may read of its sources; by its reference for its owner."""
    scope = await pincite.scope(caller)
    if share_id.startswith(SHARE_LINK_PREFIX):
        return JSONResponse(shared_answer_json(await pincite.questions.share_links.open(scope, share_id)))
    return JSONResponse(shared_answer_json(await pincite.questions.share_links.show(scope, share_id)))


@router.delete("/{share_id}")
async def remove(share_id: str, pincite: Engine, caller: Reader) -> JSONResponse:
    """End a link, by itself or by its reference."""
    return JSONResponse(
        {
            "reference": await pincite.questions.share_links.remove(await pincite.scope(caller), share_id),
            "removed": True,
        }
    )
