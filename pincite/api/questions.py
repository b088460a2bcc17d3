"""Questions: answered from the documents, whole or as a stream."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from pincite.api import API, shapes
from pincite.api.callers import Reader
from pincite.api.engine import Engine
from pincite.api.options import QueryBody
from pincite.api.presence import unless_gone
from pincite.api.stream import AnswerStream
from pincite.core.answers import Answer
from pincite.core.run import Event

router = APIRouter(prefix=API, tags=["questions"])


@router.post("/query")
async def query(body: QueryBody, request: Request, pincite: Engine, caller: Reader) -> Response:
    """Answer a question, citing the passages it stands on; `stream` tells it as it comes."""
    question = body.question()

    def ask(listen: Callable[[Event], None] | None = None) -> Coroutine[Any, Any, Answer]:
        return pincite.ask(question, caller=caller, listen=listen)

    if body.stream:
        return AnswerStream(ask)
    return JSONResponse(shapes.answer(await unless_gone(request.receive, ask())))
