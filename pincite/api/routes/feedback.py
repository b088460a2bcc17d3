"""Feedback of users on their answers."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import JSONResponse

from pincite.api.dependencies import Engine, Reader
from pincite.api.paths import API
from pincite.core.accounts.conversations import Feedback, Rating
from pincite.serialize.fields import Body, Name, Text
from pincite.serialize.primitives import Json, iso_time, page_json

router = APIRouter(prefix=f"{API}/feedback", tags=["feedback"])


class FeedbackBody(Body):
    """The rating of an answer, with an optional comment."""

    answer_id: Annotated[Name, Field(min_length=1, max_length=100)]
    rating: Rating
    comment: Text | None = None


@router.post("", status_code=201)
async def rate(body: FeedbackBody, pincite: Engine, caller: Reader) -> JSONResponse:
    """Rate one of the caller's answers; a new rating replaces the earlier one."""
    scope = await pincite.scope(caller)
    feedback = await pincite.questions.feedback.rate(scope, body.answer_id, body.rating, (body.comment or "").strip())
    return JSONResponse(feedback_json(feedback), 201)


@router.get("")
async def feedback(
    pincite: Engine,
    caller: Reader,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Query(max_length=500)] = None,
) -> JSONResponse:
    """List feedback, newest first: the caller's own, and for an administrator that of all users."""
    found, following = await pincite.questions.feedback.list(await pincite.scope(caller), limit, cursor)
    return JSONResponse(page_json([feedback_json(one) for one in found], following))


def feedback_json(value: Feedback) -> Json:
    """Feedback as JSON."""
    return asdict(value) | {"created_at": iso_time(value.created_at)}
