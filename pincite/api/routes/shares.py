"""Share links of single answers; sources are filtered by the reader's permissions."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import JSONResponse

from pincite.api.dependencies import Engine, Reader
from pincite.api.paths import API
from pincite.core.accounts.conversations import SHARE_LINK_PREFIX
from pincite.errors import Invalid
from pincite.serialize.accounts import share_json, shared_answer_json
from pincite.serialize.fields import Body, Name
from pincite.serialize.primitives import page_json

router = APIRouter(prefix=f"{API}/shares", tags=["shares"])


class ShareBody(Body):
    """The answer to share, and for how many days."""

    answer_id: Annotated[Name, Field(min_length=1, max_length=100)]
    expires_days: int | None = Field(default=None, ge=1, le=3650)


@router.get("")
async def shares(pincite: Engine, caller: Reader) -> JSONResponse:
    """List the caller's valid share links, newest first, without their secrets."""
    found = await pincite.questions.share_links.all(await pincite.scope(caller))
    return JSONResponse(page_json([share_json(one) for one in found]))


@router.post("", status_code=201)
async def create(body: ShareBody, pincite: Engine, caller: Reader) -> JSONResponse:
    """Share one of the caller's answers; the secret link, the `id`, is returned only here."""
    max_days = pincite.settings.conversation.share_days
    if (days := body.expires_days or max_days) > max_days:
        raise Invalid(f"an answer can be shared for {max_days} days at most (conversation.share_days)")
    link, made = await pincite.questions.share_links.create(await pincite.scope(caller), body.answer_id, days)
    return JSONResponse(share_json(made) | {"id": link, "link": f"{API}/shares/{link}"}, 201)


@router.get("/{share_id}")
async def show(share_id: str, pincite: Engine, caller: Reader) -> JSONResponse:
    """Show a shared answer with the sources the caller may read; its owner may use the reference instead."""
    scope = await pincite.scope(caller)
    if share_id.startswith(SHARE_LINK_PREFIX):
        return JSONResponse(shared_answer_json(await pincite.questions.share_links.open(scope, share_id)))
    return JSONResponse(shared_answer_json(await pincite.questions.share_links.show(scope, share_id)))


@router.delete("/{share_id}")
async def remove(share_id: str, pincite: Engine, caller: Reader) -> JSONResponse:
    """Remove a share link, given by the link or by its reference."""
    return JSONResponse(
        {
            "reference": await pincite.questions.share_links.remove(await pincite.scope(caller), share_id),
            "removed": True,
        }
    )
