"""Providers of models: probe the configured LLM, fallback, embedder and reranker; list the available models.

The probe uses the configured address and key. A key that an administrator enters is stored in the data folder, is used
with that server only, and is never returned.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import JSONResponse

from pincite.api.dependencies import Administrator, Engine
from pincite.api.paths import API
from pincite.api.streaming.disconnect import until_disconnect
from pincite.config.branches.generation import Fallback, Llm
from pincite.config.schema import without_password
from pincite.core.protocols import LLM, Discoverable, Reranker, ServerModel
from pincite.engine.app import AsyncPincite
from pincite.models.kit_factory import address_of, plain_embedder, provider_of, rerank_address
from pincite.models.probe import ProbeResult, probe_embedder, probe_llm, probe_reranker
from pincite.models.resilient import close
from pincite.serialize.fields import Body, Name
from pincite.serialize.primitives import page_json

router = APIRouter(prefix=f"{API}/providers", tags=["providers"])


MODEL_PROVIDERS = ("extractive", "openai_compatible", "ollama", "anthropic", "llama")
"""Providers of language models to choose from."""


class TestBody(Body):
    """Another model of the configured server to probe."""

    model: Annotated[Name, Field(min_length=1, max_length=200)] | None = None


class ModelBody(Body):
    """The language model of all questions; an omitted key stays, an empty one is removed."""

    provider: Annotated[Name, Field(max_length=200)] = ""
    base_url: Annotated[Name, Field(max_length=2000)] = ""
    model: Annotated[Name, Field(max_length=200)] = ""
    api_key: Annotated[Name, Field(max_length=2000)] | None = None


@router.put("/llm")
async def set_model(body: ModelBody, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Set the language model: provider, address, name and key."""
    await pincite.admin.set_model(
        body.provider.strip(), body.base_url.strip(), body.model.strip(), body.api_key, caller=caller
    )
    return JSONResponse(_model_json(pincite))


@router.get("/llm")
async def model(pincite: Engine, _caller: Administrator) -> JSONResponse:
    """Show the language model, and whether it has a key; the key itself is never shown."""
    return JSONResponse(_model_json(pincite))


def _model_json(pincite: AsyncPincite) -> dict[str, Any]:
    llm = pincite.settings.llm
    return {
        "provider": llm.provider,
        "base_url": without_password(llm.base_url),
        "model": llm.model,
        "key_set": llm.api_key is not None,
        "providers": MODEL_PROVIDERS,
    }


@router.post("/test")
async def try_out(
    request: Request, pincite: Engine, _caller: Administrator, body: TestBody | None = None
) -> JSONResponse:
    """Probe the configured model, its fallback, the embedder and the reranker once each, without retries."""
    return JSONResponse(await until_disconnect(request.receive, _probe_all(pincite, body.model if body else None)))


@router.get("/models")
async def models(request: Request, pincite: Engine, _caller: Administrator) -> JSONResponse:
    """List the models of the configured server."""
    offers = await until_disconnect(request.receive, _list_models(pincite))
    return JSONResponse(page_json([{"name": one.name, "window": one.window} for one in offers]))


async def _probe_all(pincite: AsyncPincite, model: str | None) -> dict[str, Any]:
    settings, admin = pincite.settings, pincite.admin
    return {
        "llm": await _probe_llm(settings.llm, admin.plain_llm(settings.llm), model),
        "fallback": await _probe_llm(settings.llm.fallback, admin.plain_llm(settings.llm.fallback)),
        "embedding": {"provider": settings.embedding.provider} | await _probe_embedder(pincite),
        "reranker": {"provider": settings.rag.reranker, "address": rerank_address(settings) or None}
        | await _probe_reranker(admin.plain_reranker()),
    }


async def _probe_embedder(pincite: AsyncPincite) -> dict[str, Any]:
    if pincite.admin.embedder.local:  # a second instance would load the model again
        return _result_json(await probe_embedder(pincite.admin.embedder), "model", "dimensions", "latency_ms")
    embedder = plain_embedder(pincite.settings)
    try:
        return _result_json(await probe_embedder(embedder), "model", "dimensions", "latency_ms")
    finally:
        await close(embedder)


async def _probe_reranker(reranker: Reranker | None) -> dict[str, Any]:
    if reranker is None:
        return {"ok": True, "error": None}
    try:
        return _result_json(await probe_reranker(reranker), "latency_ms")
    finally:
        await close(reranker)


async def _probe_llm(chosen: Llm | Fallback, llm: LLM | None, model: str | None = None) -> dict[str, Any]:
    named = {"provider": provider_of(chosen), "address": address_of(chosen) or None}
    if llm is None:  # extractive answers need no model
        return named | {"ok": True, "model": None, "error": None}
    try:
        tried = await probe_llm(llm, model)
    finally:
        await close(llm)
    return named | _result_json(tried, "model", "window", "latency_ms", "first_token_ms")


def _result_json(tried: ProbeResult, *names: str) -> dict[str, Any]:
    error = {"code": tried.code, "message": tried.error} if tried.error else None
    return {"ok": error is None, **{name: getattr(tried, name) for name in names}, "error": error}


async def _list_models(pincite: AsyncPincite) -> list[ServerModel]:
    llm = pincite.admin.plain_llm(pincite.settings.llm)
    try:
        return await llm.list_models() if isinstance(llm, Discoverable) else []
    finally:
        await close(llm)
