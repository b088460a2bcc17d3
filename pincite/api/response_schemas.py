"""The schemas of all responses in the OpenAPI description.

The routes return finished JSON, so that FastAPI cannot know its form. This table tells it. A test compares it with the
routes, and real responses with the schemas.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter

from pincite.api.middleware.problems import MEDIA_TYPE
from pincite.api.paths import API
from pincite.core.accounts.audit import AuditEvent
from pincite.core.accounts.users import ApiKey, Group, Person
from pincite.core.documents.document import Document, Folder, Passage, Receipt, Version
from pincite.serialize.primitives import Json
from pincite.serialize.schemas import graph as g
from pincite.serialize.schemas import operations as o
from pincite.serialize.schemas import responses as r
from pincite.serialize.schemas.answers import AnswerJson, SearchJson

EVENTS = "text/event-stream"
Response = tuple[int, Any]
"""The status of a success, and the type of its JSON; a text is another media type, and None is no content."""

RESPONSES: Mapping[str, Response] = {
    "POST /documents/upload": (202, r.UploadedJson),
    "POST /documents/samples": (202, o.SamplesJson),
    "POST /documents/start": (202, r.StartedJson),
    "POST /documents/url": (202, r.UploadedJson),
    "GET /documents": (200, r.Page[Document]),
    "GET /documents/{document_id}": (200, Document),
    "PATCH /documents/{document_id}": (200, Document),
    "DELETE /documents/{document_id}": (200, Receipt),
    "GET /documents/{document_id}/versions": (200, r.Page[Version]),
    "GET /documents/{document_id}/chunks": (200, r.Page[r.ChunkJson]),
    "GET /documents/{document_id}/file": (200, "application/octet-stream"),
    "POST /documents/read": (200, Passage),
    "GET /documents/{document_id}/pages/{number}": (200, o.PageViewJson),
    "GET /documents/{document_id}/places": (200, o.LocationJson),
    "GET /documents/{document_id}/diff": (200, r.DifferenceJson),
    "POST /documents/reindex": (202, r.ReindexedJson),
    "GET /index": (200, r.IndexesJson),
    "DELETE /index": (200, o.DiscardedJson),
    "POST /index/compare": (200, o.ComparisonJson),
    "POST /index/switch": (200, r.IndexesJson),
    "POST /index/rollback": (202, r.IndexesJson),
    "GET /folders": (200, r.Page[Folder]),
    "POST /folders": (201, Folder),
    "PATCH /folders": (200, Folder),
    "DELETE /folders": (200, r.FolderRemovedJson),
    "GET /jobs": (200, r.JobsJson),
    "GET /jobs/events": (200, EVENTS),
    "DELETE /jobs/{job_id}": (200, o.CancelledJobJson),
    "POST /search": (200, SearchJson),
    "POST /query-many": (200, SearchJson),
    "POST /query": (200, AnswerJson),
    "POST /chat": (200, AnswerJson),
    "GET /chat/streams/{stream_id}": (200, EVENTS),
    "DELETE /chat/streams/{stream_id}": (200, o.CancelledStreamJson),
    "GET /chat/ws": (101, None),
    "GET /sessions": (200, r.Page[r.SessionJson]),
    "DELETE /sessions": (200, r.CountRemovedJson),
    "GET /sessions/{session_id}": (200, r.SessionJson),
    "PATCH /sessions/{session_id}": (200, r.SessionJson),
    "DELETE /sessions/{session_id}": (200, r.RemovedJson),
    "GET /shares": (200, r.Page[r.ShareJson]),
    "POST /shares": (201, r.ShareJson),
    "GET /shares/{share_id}": (200, r.SharedAnswerJson),
    "DELETE /shares/{share_id}": (200, o.ShareRemovedJson),
    "POST /feedback": (201, o.FeedbackJson),
    "GET /feedback": (200, r.Page[o.FeedbackJson]),
    "POST /embedding": (200, r.EmbeddingJson),
    "GET /traces": (200, r.Page[r.TraceJson]),
    "GET /traces/{trace_id}": (200, r.TraceJson),
    "POST /traces/{trace_id}/replay": (200, o.ReplayJson),
    "POST /evaluations": (202, r.EvaluationStartedJson),
    "GET /evaluations": (200, r.Page[r.EvaluationJson]),
    "GET /evaluations/{evaluation_id}": (200, r.EvaluationJson),
    "GET /evaluation-sets": (200, r.Page[r.EvaluationSetJson]),
    "POST /evaluation-sets": (201, r.EvaluationSetJson),
    "PUT /evaluation-sets/{set_id}/questions": (200, o.QuestionSetJson),
    "GET /evaluation-sets/{set_id}": (200, o.QuestionSetJson),
    "DELETE /evaluation-sets/{set_id}": (200, r.RemovedJson),
    "POST /tunings": (202, r.TuningStartedJson),
    "GET /tunings": (200, r.Page[r.TuningJson]),
    "GET /tunings/{tuning_id}": (200, r.TuningJson),
    "POST /tunings/{tuning_id}/apply": (200, r.SettingsOutcomeJson),
    "GET /auth/ways": (200, o.LoginWaysJson),
    "POST /auth/setup": (200, o.LoginJson),
    "POST /auth/login": (200, o.LoginJson),
    "POST /auth/logout": (200, o.LoggedOutJson),
    "GET /auth/oidc/login": (303, None),
    "GET /auth/oidc/callback": (303, None),
    "GET /users": (200, r.Page[Person]),
    "POST /users": (201, Person),
    "GET /users/{user_id}": (200, Person),
    "PATCH /users/{user_id}": (200, Person),
    "DELETE /users/{user_id}": (200, r.RemovedJson),
    "GET /users/{user_id}/usage": (200, r.UsageJson),
    "GET /groups": (200, r.Page[Group]),
    "POST /groups": (201, Group),
    "GET /groups/{group_id}": (200, Group),
    "DELETE /groups/{group_id}": (200, r.RemovedJson),
    "PUT /groups/{group_id}/members/{user_id}": (200, Group),
    "DELETE /groups/{group_id}/members/{user_id}": (200, Group),
    "GET /me": (200, r.ProfileJson),
    "GET /me/usage": (200, r.UsageJson),
    "POST /me/password": (200, o.ChangedJson),
    "GET /keys": (200, r.Page[ApiKey]),
    "POST /keys": (201, r.NewKeyJson),
    "DELETE /keys/{key_id}": (200, r.RevokedJson),
    "GET /me/keys": (200, r.Page[ApiKey]),
    "POST /me/keys": (201, r.NewKeyJson),
    "DELETE /me/keys/{key_id}": (200, r.RevokedJson),
    "GET /sources": (200, r.Page[o.SourceJson]),
    "POST /sources": (201, o.SourceJson),
    "GET /sources/{source_id}": (200, o.SourceJson),
    "DELETE /sources/{source_id}": (204, None),
    "POST /sources/{source_id}/sync": (200, o.SourceResultJson),
    "GET /suggestions": (200, r.Page[o.StarterJson]),
    "GET /providers/llm": (200, o.ModelSettingsJson),
    "PUT /providers/llm": (200, o.ModelSettingsJson),
    "GET /audit": (200, r.Page[AuditEvent]),
    "POST /audit/verify": (200, r.ChainCheckJson),
    "GET /settings": (200, r.SettingsJson),
    "PUT /settings": (200, r.SettingsOutcomeJson),
    "GET /settings/schema": (200, r.Page[o.SettingKeyJson]),
    "GET /settings/history": (200, r.Page[o.SettingChangeJson]),
    "POST /settings/undo": (200, r.SettingsOutcomeJson),
    "POST /settings/apply": (200, r.SettingsOutcomeJson),
    "GET /profiles": (200, r.Page[r.SettingsProfileJson]),
    "GET /profiles/{profile}": (200, r.SettingsProfileJson),
    "POST /providers/test": (200, o.ProbesJson),
    "GET /providers/models": (200, r.Page[o.ServerModelJson]),
    "GET /health/live": (200, r.StatusJson),
    "GET /health/ready": (200, r.StatusJson),
    "GET /health/details": (200, r.StatusJson),
    "GET /metrics": (200, "text/plain"),
    "POST /api/query": (200, g.FiveStageAnswerJson),
    "POST /api/chat": (200, g.ChatAnswerJson),
    "POST /vectorstore/documents/upload": (202, g.StoredUploadJson),
    "POST /vectorstore/documents/start": (202, r.StartedJson),
    "POST /vectorstore/documents/read": (200, Passage),
    "POST /vectorstore/query-many": (200, r.ObjectJson),
    "POST /v1/chat/completions": (200, r.CompletionJson),
    "POST /v1/responses": (200, r.ResponseJson),
    "GET /v1/models": (200, r.ModelListJson),
    "GET /v1/models/{model_id}": (200, o.OpenAIModelJson),
    "POST /v1/embeddings": (200, r.ModelListJson),
    "POST /mcp": (200, r.ObjectJson),
    "DELETE /mcp": (200, None),
    "POST /flows/run": (200, AnswerJson),
    "GET /graph/entities": (200, g.EntitiesJson),
    "GET /graph/entities/{entity}": (200, g.EntityCardJson),
    "GET /graph/path": (200, g.PathJson),
    "GET /flows": (200, r.Page[r.StoredFlowJson]),
    "PUT /flows/{name}": (200, r.StoredFlowJson),
    "GET /flows/{name}": (200, r.StoredFlowJson),
    "DELETE /flows/{name}": (204, None),
    "GET /flows/{name}/versions": (200, r.Page[r.StoredFlowJson]),
    "POST /flows/{name}/run": (200, AnswerJson),
}
STREAMED = frozenset(
    {"POST /query", "POST /chat", "POST /v1/chat/completions", "POST /v1/responses", "POST /flows/run", "POST /mcp"}
)
"""Routes that may answer with a stream of events instead."""
_REF = "#/components/schemas/{model}"


def describe_responses(app: FastAPI) -> None:
    """Let the application's OpenAPI description have the schemas of its responses."""
    app.openapi = partial(_openapi, app)  # type: ignore[method-assign]


def operation_name(method: str, path: str) -> str:
    """The name of an operation in the table."""
    return f"{method.upper()} {path.removeprefix(API)}"


def _openapi(app: FastAPI) -> Json:
    if app.openapi_schema is None:
        described = get_openapi(title=app.title, version=app.version, routes=app.routes)
        kinds = {name: kind for name, (_, kind) in RESPONSES.items() if kind is not None and not isinstance(kind, str)}
        adapters = [(name, "serialization", TypeAdapter(kind)) for name, kind in {**kinds, "": r.ProblemJson}.items()]
        schemas, definitions = TypeAdapter.json_schemas(adapters, ref_template=_REF)  # type: ignore[arg-type]
        described["components"].setdefault("schemas", {}).update(definitions.get("$defs", {}))
        by_name = {name: schema for (name, _), schema in schemas.items()}
        for path, methods in described["paths"].items():
            for method, operation in methods.items():
                _describe(operation, operation_name(method, path), by_name)
        app.openapi_schema = described
    return app.openapi_schema


def _describe(operation: Json, name: str, schemas: Mapping[str, Any]) -> None:
    """Add the responses of one operation to its description."""
    problem = {"description": "A problem (RFC 9457)", "content": {MEDIA_TYPE: {"schema": schemas[""]}}}
    answers = {status: one for status, one in operation["responses"].items() if status not in ("200", "default", "422")}
    if name in RESPONSES:
        status, kind = RESPONSES[name]
        content = {kind: {"schema": {"type": "string"}}} if isinstance(kind, str) else {}
        if name in schemas:
            content["application/json"] = {"schema": schemas[name]}
        if name in STREAMED:
            content[EVENTS] = {"schema": {"type": "string"}}
        answers[str(status)] = {"description": "Success", **({"content": content} if content else {})}
    operation["responses"] = {**answers, "default": problem}
