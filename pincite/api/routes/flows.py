"""Flows: nodes that search, read and write, run once."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from pincite.api.dependencies import Engine
from pincite.api.middleware.authenticate import Reader
from pincite.api.paths import API
from pincite.api.requests import AnswerOptions
from pincite.api.routes.query import respond
from pincite.flows.graph import Flow

router = APIRouter(prefix=f"{API}/flows", tags=["flows"])


class FlowBody(Flow):
    """A flow, and whether its answer is wanted as it comes."""

    stream: bool = False


@router.post("/run")
async def run(body: FlowBody, request: Request, pincite: Engine, caller: Reader) -> Response:
    """Run a flow's nodes in their order; the answer is what its last completion says."""
    options = AnswerOptions(stream=body.stream)
    return await respond(
        request, options, caller, lambda listen: pincite.questions.run_flow(body, caller=caller, listen=listen)
    )
