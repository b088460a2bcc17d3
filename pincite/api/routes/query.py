"""Questions: answered from the documents, whole or as a stream."""

from collections.abc import Callable
from dataclasses import dataclass

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from pincite.api.admission.admission import Admission
from pincite.api.dependencies import Engine
from pincite.api.middleware.authenticate import Reader, wait_until_revoked
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
    """How another door words an answer of ours: as a whole, and each event of its stream."""

    whole: AnswerConverter
    event: EventFormat


@router.post("/query")
async def query(body: QueryBody, request: Request, pincite: Engine, caller: Reader) -> Response:
    """Answer a question, citing the passages it stands on; `stream` tells it as it comes."""
    question = body.question()
    return await respond(request, body, caller, lambda listen: pincite.ask(question, caller=caller, listen=listen))


async def respond(
    request: Request, body: AnswerOptions, caller: Caller, ask: Ask, telling: AnswerFormat | None = None
) -> Response:
    """The answer, whole or as it comes; a client that goes away stops the work, unless it means to come back."""
    ask = while_permitted(request.app.state.pincite, caller, ask)
    admission: Admission = request.app.state.admission
    asking = admission.question(caller, ask, stream=body.stream, longest=body.max_tokens)
    if not body.stream:
        told = answer_json(await until_disconnect(request.receive, asking(_ignore_event)))
        return JSONResponse(telling.whole(told) if telling else told)
    streams: Streams = request.app.state.streams
    stream = streams.open(caller.person, asking, get_request_id(request.scope), resumable=body.resumable)
    return AnswerStream(stream, wait_until_revoked(request), tell=telling.event if telling else None)


def _ignore_event(_event: Event) -> None:
    """Listens to an answer that is wanted whole."""
