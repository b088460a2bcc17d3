"""Models and embeddings for clients of OpenAI's API."""

import asyncio
import base64
import struct
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse

from pincite.api.compat.openai_requests import MODEL_NAME, bad_value
from pincite.api.dependencies import AdmissionControl, Engine, Reader
from pincite.api.routes.embeddings import Embeddable, vectors_of
from pincite.api.streaming.disconnect import until_disconnect
from pincite.config.profiles import profiles
from pincite.engine.app import AsyncPincite
from pincite.errors import NotFound
from pincite.serialize.primitives import Json
from pincite.text.tokens import Tokenizer

router = APIRouter(prefix="/v1", tags=["openai"])

MAX_INPUTS = 2048
"""Texts of one request, as in OpenAI's API."""
BATCH = 256
"""Texts that are embedded at a time, so that others get their turn in between."""
Tokens = Annotated[list[Annotated[int, Field(ge=0, lt=2**31)]], Field(min_length=1, max_length=100_000)]
"""A text as tokens of the encoding cl100k_base, as clients of OpenAI's embedding models send it."""


@router.get("/models")
async def models(pincite: Engine, caller: Reader) -> JSONResponse:
    """List the models: the current settings, one per profile, and the embedder."""
    return JSONResponse({"object": "list", "data": [_model_json(name) for name in _model_names(pincite)]})


@router.get("/models/{model_id:path}")
async def model(model_id: str, pincite: Engine, caller: Reader) -> JSONResponse:
    """Show one model."""
    if model_id not in _model_names(pincite):
        raise NotFound(f"there is no model '{model_id[:100]}'; list models with GET /v1/models", code="model_not_found")
    return JSONResponse(_model_json(model_id))


def _model_names(pincite: AsyncPincite) -> list[str]:
    return [MODEL_NAME, *(f"{MODEL_NAME}:{name}" for name in profiles()), pincite.admin.embedder.name]


def _model_json(name: str) -> Json:
    return {"id": name, "object": "model", "created": 0, "owned_by": MODEL_NAME}


class TextsBody(BaseModel):
    """Texts to embed, or their tokens; the embedder of the library is used, whatever `model` says."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    input: (
        Embeddable
        | Annotated[list[Embeddable], Field(min_length=1, max_length=MAX_INPUTS)]
        | Tokens
        | Annotated[list[Tokens], Field(min_length=1, max_length=MAX_INPUTS)]
    )
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None

    def texts(self) -> list[str]:
        """The texts; tokens are decoded."""
        if isinstance(self.input, str):
            return [self.input]
        given: Sequence[str | int | list[int]] = self.input
        if isinstance(given[0], int):
            given = [[token for token in given if isinstance(token, int)]]
        texts = [one if isinstance(one, str) else _decoded(one) for one in given if not isinstance(one, int)]
        if not all(texts):
            raise bad_value("input", "some tokens are none of the encoding cl100k_base; send the text itself")
        return texts


def _decoded(tokens: Sequence[int]) -> str:
    return Tokenizer().decode(tokens)


@router.post("/embeddings")
async def embeddings(
    body: TextsBody, request: Request, pincite: Engine, caller: Reader, admission: AdmissionControl
) -> JSONResponse:
    """Return one unit vector per text, in order, from the embedder of the library."""
    embedder = pincite.admin.embedder
    if body.dimensions not in (None, embedder.dimensions):
        raise bad_value(
            "dimensions",
            f"the vectors of {embedder.name} have {embedder.dimensions}; leave it out or send that number",
        )
    texts = await asyncio.to_thread(body.texts)

    async def embed() -> list[list[float]]:
        vectors: list[list[float]] = []
        for start in range(0, len(texts), BATCH):
            part = texts[start : start + BATCH]
            vectors += await admission.search(caller, partial(vectors_of, embedder, part))
        return vectors

    vectors = await until_disconnect(request.receive, embed())
    counted = await asyncio.to_thread(lambda: sum(map(Tokenizer().count, texts)))
    data = [
        {"object": "embedding", "index": n, "embedding": _encode_vector(vector, body.encoding_format)}
        for n, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": counted, "total_tokens": counted}
    return JSONResponse({"object": "list", "data": data, "model": embedder.name, "usage": usage})


def _encode_vector(vector: Sequence[float], form: str) -> str | Sequence[float]:
    return vector if form == "float" else base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
