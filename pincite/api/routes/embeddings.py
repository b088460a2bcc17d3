"""Embeddings of texts by the model of the index."""

import asyncio
import math
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import BeforeValidator, Field
from starlette.responses import JSONResponse

from pincite.api.dependencies import AdmissionControl, Engine, Reader
from pincite.api.paths import API
from pincite.api.streaming.disconnect import until_disconnect
from pincite.core.protocols import Embedder
from pincite.serialize.fields import Body, Words

router = APIRouter(prefix=API, tags=["embedding"])

Embeddable = Annotated[Words, Field(min_length=1, max_length=100_000)]


def _as_list(given: Any) -> Any:
    return [given] if isinstance(given, str) else given


class EmbeddingBody(Body):
    """A text, or a list of texts."""

    input: Annotated[list[Embeddable], Field(min_length=1, max_length=256), BeforeValidator(_as_list)]


@router.post("/embedding")
async def embedding(
    body: EmbeddingBody, request: Request, pincite: Engine, caller: Reader, admission: AdmissionControl
) -> JSONResponse:
    """Return one unit vector per text, in order; a text beyond the model's window gets the mean of its parts."""
    embedding = admission.search(caller, lambda: vectors_of(pincite.admin.embedder, body.input))
    vectors = await until_disconnect(request.receive, embedding)
    return JSONResponse({"model": pincite.admin.embedder.name, "vectors": vectors})


async def vectors_of(embedder: Embedder, texts: Sequence[str]) -> list[list[float]]:
    """One unit vector per text; long texts are embedded in windows and averaged."""
    parts = await asyncio.to_thread(lambda: [embedder.windows(text) for text in texts])
    vectors = iter(await embedder.embed([part for windows in parts for part in windows], as_query=False))
    return [_mean([next(vectors) for _ in windows]) for windows in parts]


def _mean(vectors: Sequence[Sequence[float]]) -> list[float]:
    """The mean direction of vectors, as a unit vector."""
    if len(vectors) == 1:
        return list(vectors[0])
    summed = [sum(column) for column in zip(*vectors, strict=True)]
    length = math.hypot(*summed) or 1.0
    return [value / length for value in summed]
