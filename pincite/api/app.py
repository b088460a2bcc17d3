"""The FastAPI application: its routers and its middleware."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from pincite import __version__
from pincite.api.admission.admission import Admission
from pincite.api.compat import openai, openai_models, openai_responses, seed_paths
from pincite.api.dependencies import routes_without_permission
from pincite.api.middleware.authenticate import OPENAPI_PATH, Authenticate
from pincite.api.middleware.cors import CorsHeaders
from pincite.api.middleware.lost_pages import LostPages
from pincite.api.middleware.problems import MEDIA_TYPE, Problems, handle_error
from pincite.api.middleware.request_id import RequestIdAndLog
from pincite.api.middleware.request_limits import BodyLimit, HostCheck
from pincite.api.response_schemas import describe_responses
from pincite.api.routes import (
    audit,
    auth,
    chat,
    docs,
    document_contents,
    document_pages,
    documents,
    embeddings,
    evaluations,
    feedback,
    flows,
    folders,
    graph,
    health,
    jobs,
    keys,
    mcp,
    oidc,
    providers,
    query,
    search,
    sessions,
    settings,
    shares,
    sources,
    suggestions,
    traces,
    tunings,
    uploads,
    url_import,
    users,
    versions,
    web_ui,
    websocket,
)
from pincite.api.routes.evaluations import BackgroundEvaluation
from pincite.api.streaming.answer_streams import Streams
from pincite.engine.app import AsyncPincite
from pincite.engine.connectors.source_sync import SourceScheduler

ROUTERS = [
    web_ui.router,
    docs.router,
    uploads.router,
    url_import.router,
    documents.router,
    document_contents.router,
    document_pages.router,
    versions.router,
    folders.router,
    jobs.router,
    search.router,
    suggestions.router,
    query.router,
    chat.router,
    websocket.router,
    sessions.router,
    shares.router,
    feedback.router,
    embeddings.router,
    traces.router,
    evaluations.router,
    tunings.router,
    auth.router,
    oidc.router,
    users.router,
    keys.router,
    keys.own_router,
    audit.router,
    settings.router,
    providers.router,
    health.router,
    seed_paths.router,
    openai.router,
    openai_responses.router,
    openai_models.router,
    mcp.router,
    flows.router,
    graph.router,
    sources.router,
]


def make_app(pincite: AsyncPincite, *, host: str = "", worker: int | None = None) -> FastAPI:
    """Make the application for an open engine; `host` is the name or address it listens on.

    `worker` is the number of this process where several serve together. The first processes files, like one alone.
    """
    if missing := routes_without_permission(ROUTERS):
        raise RuntimeError(f"these routes declare no required permission: {', '.join(missing)}")
    server, admission = pincite.settings.server, Admission(pincite)
    app = FastAPI(
        title="pincite",
        version=__version__,
        openapi_url=OPENAPI_PATH,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
        exception_handlers={HTTPException: handle_error, RequestValidationError: handle_error},
        responses={"default": {"description": "A problem (RFC 9457)", "content": {MEDIA_TYPE: {}}}},
        middleware=[  # outermost first
            Middleware(RequestIdAndLog),
            Middleware(CorsHeaders, origins=server.allowed_origins),
            Middleware(Problems),
            Middleware(HostCheck, hosts=[host or server.host, *server.allowed_hosts]),
            Middleware(LostPages, known=_first_segments(), page=web_ui.lost_page),
            Middleware(Authenticate, pincite=pincite, check=admission.check),
            Middleware(BodyLimit, limit_mb=server.max_body_mb),
        ],
    )
    app.state.pincite = pincite
    app.state.admission = admission
    app.state.is_first = worker in (None, 1)
    app.state.mcp_sessions = mcp.make_sessions(pincite, admission)
    app.state.streams = Streams(worker=worker)
    app.state.stopping = asyncio.Event()
    app.state.evaluation = BackgroundEvaluation()
    app.state.source_scheduler = SourceScheduler(pincite)
    for router in ROUTERS:
        app.include_router(router)
    describe_responses(app)
    return app


def _first_segments() -> frozenset[str]:
    """The first path segment of every route."""
    paths = (getattr(route, "path", "/") for router in ROUTERS for route in router.routes)
    return frozenset(path.split("/")[1] for path in paths)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Start the ingest workers of this process; closing the engine stops them."""
    if app.state.is_first:
        app.state.pincite.admin.start_workers()
        app.state.source_scheduler.start()
    async with app.state.mcp_sessions.run():
        yield
    await app.state.source_scheduler.close()
    await app.state.streams.close()
    await app.state.evaluation.close()
