"""Questions to begin with, made from the caller's own documents."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import JSONResponse

from pincite.api.dependencies import Engine, Reader
from pincite.api.paths import API
from pincite.serialize.primitives import page_json

router = APIRouter(prefix=f"{API}/suggestions", tags=["suggestions"])


@router.get("")
async def suggestions(
    pincite: Engine, caller: Reader, language: Annotated[str | None, Query(max_length=10)] = None
) -> JSONResponse:
    """List up to four questions that the newest documents answer; those in `language` first."""
    found = await pincite.questions.starters(language, caller=caller)
    return JSONResponse(page_json([asdict(one) for one in found]))
