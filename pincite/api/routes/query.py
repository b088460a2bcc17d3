"""Questions, answered from the documents as one response or as a stream."""

from collections.abc import Callable
from dataclasses import dataclass

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from pincite.api.admission.admission import Admission
from pincite.api.dependencies import Engine, Reader
from pincite.api.middleware.authenticate import wait_until_revoked
from pincite.api.middleware.problems import get_request_id
from pincite.api.paths import API
from pincite.api.requests import AnswerOptions, QueryBody
from pincite.api.streaming.answer_streams import Ask, Streams
from pincite.api.streaming.disconnect import until_disconnect
from pincite.api.streaming.revalidate import while_permitted
from pincite.api.streaming.sse import AnswerStream, EventFormat
from pincite.core.accounts.access import Caller
from pincite.core.run import Event
from pincite.serialize.answers import answer_json
from pincite.serialize.primitives import Json

router = APIRouter(prefix=API, tags=["questions"])

AnswerConverter = Callable[[Json], Json]


@dataclass(frozen=True, slots=True)
class AnswerFormat:
    """The response format of a compatible route: for the whole answer, and for each event of its stream."""

    whole: AnswerConverter
    event: EventFormat


@router.post("/query")
async def query(body: QueryBody, request: Request, pincite: Engine, caller: Reader) -> Response:
    """Answer a question with citations of its passages; `stream` sends it as it is written."""
    question = body.question()
    return await respond(request, body, caller, lambda listen: pincite.ask(question, caller=caller, listen=listen))


async def respond(
    request: Request, body: AnswerOptions, caller: Caller, ask: Ask, answer_format: AnswerFormat | None = None
) -> Response:
    """Respond with the answer or its stream; a disconnect cancels it unless it is resumable."""
    ask = while_permitted(request.app.state.pincite, caller, ask)
    admission: Admission = request.app.state.admission
    admitted = admission.question(caller, ask, stream=body.stream, max_tokens=body.max_tokens)
    if not body.stream:
        answer = answer_json(await until_disconnect(request.receive, admitted(_ignore_event)))
        return JSONResponse(answer_format.whole(answer) if answer_format else answer)
    streams: Streams = request.app.state.streams
    stream = streams.open(caller.person, admitted, get_request_id(request.scope), resumable=body.resumable)
    return AnswerStream(
        stream, wait_until_revoked(request), event_format=answer_format.event if answer_format else None
    )


def _ignore_event(_event: Event) -> None:
    """Listener of an answer that is not streamed."""
