"""Feedback: what people say of the answers they got."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import JSONResponse

from pincite.api.dependencies import Engine
from pincite.api.middleware.authenticate import Reader
from pincite.api.paths import API
from pincite.core.accounts.conversations import Feedback, Rating
from pincite.serialize.fields import Body, Name, Text
from pincite.serialize.primitives import Json, iso_time, page_json

router = APIRouter(prefix=f"{API}/feedback", tags=["feedback"])


class FeedbackBody(Body):
    """Which answer, whether it helped, and why."""

    answer_id: Annotated[Name, Field(min_length=1, max_length=100)]
    rating: Rating
    comment: Text | None = None


@router.post("", status_code=201)
async def rate(body: FeedbackBody, pincite: Engine, caller: Reader) -> JSONResponse:
    """Say of an answer of one's own whether it helped; saying it again replaces what was said."""
    scope = await pincite.scope(caller)
    said = await pincite.questions.feedback.rate(scope, body.answer_id, body.rating, (body.comment or "").strip())
    return JSONResponse(feedback_json(said), 201)


@router.get("")
async def feedback(
    pincite: Engine,
    caller: Reader,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Query(max_length=500)] = None,
) -> JSONResponse:
    """What was said, newest first: one's own, and for an administrator everybody's."""
    found, following = await pincite.questions.feedback.list(await pincite.scope(caller), limit, cursor)
    return JSONResponse(page_json([feedback_json(one) for one in found], following))


def feedback_json(value: Feedback) -> Json:
    """What was said of an answer."""
    return asdict(value) | {"created_at": iso_time(value.created_at)}
