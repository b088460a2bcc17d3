"""Flows: graphs of nodes that search, read and write; stored by name, with versions."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import JSONResponse, Response

from pincite.api.dependencies import Engine, Reader
from pincite.api.paths import API
from pincite.api.requests import AnswerOptions
from pincite.api.routes.query import respond
from pincite.flows.graph import NAME_PATTERN, Flow, Input
from pincite.serialize.fields import Body
from pincite.serialize.flows import stored_flow_json
from pincite.serialize.primitives import page_json

router = APIRouter(prefix=f"{API}/flows", tags=["flows"])

FlowName = Annotated[str, Path(pattern=f"^{NAME_PATTERN}$")]
Version = Annotated[int, Query(ge=1, le=2**31 - 1)]


class FlowBody(Flow):
    """A flow, and whether to stream its answer."""

    stream: bool = False


class RunBody(Body):
    """The input of a stored flow, its version (by default the newest), and whether to stream the answer."""

    input: Input | None = None
    version: Version | None = None
    stream: bool = False


@router.post("/run")
async def run(body: FlowBody, request: Request, pincite: Engine, caller: Reader) -> Response:
    """Run the nodes of a flow in order; the answer is the output of its last completion node."""
    options = AnswerOptions(stream=body.stream)
    return await respond(
        request, options, caller, lambda listen: pincite.questions.run_flow(body, caller=caller, listen=listen)
    )


@router.get("")
async def flows(pincite: Engine, caller: Reader) -> JSONResponse:
    """List your stored flows by name, each with its newest version."""
    found = await pincite.flows(caller=caller)
    return JSONResponse(page_json([stored_flow_json(one, whole=False) for one in found]))


@router.put("/{name}")
async def save(name: FlowName, body: dict[str, Any], pincite: Engine, caller: Reader) -> JSONResponse:
    """Store a flow under a name, as its newest version; an unchanged flow makes no new version."""
    return JSONResponse(stored_flow_json(await pincite.save_flow(name, body, caller=caller)))


@router.get("/{name}")
async def flow(name: FlowName, pincite: Engine, caller: Reader, version: Version | None = None) -> JSONResponse:
    """Show a stored flow with its definition: its newest version, or another one."""
    found = await pincite.questions.flows.get(await pincite.scope(caller), name, version)
    return JSONResponse(stored_flow_json(found))


@router.get("/{name}/versions")
async def versions(name: FlowName, pincite: Engine, caller: Reader) -> JSONResponse:
    """List the versions of a stored flow, the newest first."""
    found = await pincite.flow_versions(name, caller=caller)
    return JSONResponse(page_json([stored_flow_json(one) for one in found]))


@router.delete("/{name}", status_code=204)
async def remove(name: FlowName, pincite: Engine, caller: Reader) -> Response:
    """Remove a stored flow with all its versions."""
    await pincite.remove_flow(name, caller=caller)
    return Response(status_code=204)


@router.post("/{name}/run")
async def run_stored(name: FlowName, body: RunBody, request: Request, pincite: Engine, caller: Reader) -> Response:
    """Run a stored flow with an input; without one, with the input it was stored with."""
    options = AnswerOptions(stream=body.stream)
    stored = await pincite.questions.flows.get(await pincite.scope(caller), name, body.version)
    return await respond(
        request,
        options,
        caller,
        lambda listen: pincite.questions.run_flow(stored.definition, body.input, caller=caller, listen=listen),
    )
