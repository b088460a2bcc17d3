"""Flows: graphs of nodes that search, read and write."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from pincite.api.dependencies import Engine, Reader
from pincite.api.paths import API
from pincite.api.requests import AnswerOptions
from pincite.api.routes.query import respond
from pincite.flows.graph import Flow

router = APIRouter(prefix=f"{API}/flows", tags=["flows"])


class FlowBody(Flow):
    """A flow, and whether to stream its answer."""

    stream: bool = False


@router.post("/run")
async def run(body: FlowBody, request: Request, pincite: Engine, caller: Reader) -> Response:
    """Run the nodes of a flow in order; the answer is the output of its last completion node."""
    options = AnswerOptions(stream=body.stream)
    return await respond(
        request, options, caller, lambda listen: pincite.questions.run_flow(body, caller=caller, listen=listen)
    )
