"""The JSON of responses other than answers, as types; each mirrors a function of this package of the same name."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Generic, TypeVar

from pydantic import Field

from pincite.core.documents.document import Document, Receipt
from pincite.serialize.schemas.answers import AnswerJson, JsonModel

T = TypeVar("T")


class Page(JsonModel, Generic[T]):
    """One page of a list; `next_cursor` is null on the last page."""

    items: list[T]
    next_cursor: str | None


class UploadedJson(JsonModel):
    """An uploaded document; `duplicate` where the same file was there already."""

    document: Document
    duplicate: bool = False
    same_content: list[dict[str, Any]] = Field(default=[])


class StartedJson(JsonModel):
    """The number of documents whose indexing was started."""

    started: int


class ChunkJson(JsonModel):
    """A chunk of a version as stored."""

    id: str
    ordinal: int
    level: int
    parent: int | None
    text: str
    start_char: int
    end_char: int
    start_line: int
    end_line: int
    page: int | None
    place: str | None
    heading_path: list[str]
    content_type: str
    language: str
    tokens: int


class RemovedJson(JsonModel):
    """What was removed."""

    id: str
    removed: bool


class CountRemovedJson(JsonModel):
    """How many were removed."""

    removed: int


class FolderRemovedJson(JsonModel):
    """A removed folder with a receipt for each of its documents."""

    path: str
    receipts: list[Receipt]


class ObjectJson(JsonModel):
    """An object whose fields depend on the file, the settings or the providers."""


class JobsJson(Page[ObjectJson]):
    """Jobs with a summary of the queue."""

    summary: dict[str, Any]


class SessionJson(JsonModel):
    """A conversation; `turns` only where one is shown."""

    id: str
    title: str | None
    created_at: datetime
    updated_at: datetime
    turn_count: int
    turns: list[dict[str, Any]] = Field(default=[])


class ShareJson(JsonModel):
    """A share link; `id` and `link` are told only when it is made."""

    reference: str
    owner: str
    answer_id: str
    created_at: datetime
    expires_at: datetime | None


class SharedAnswerJson(AnswerJson):
    """An answer that somebody shared."""

    question: str
    shared_by: str
    reference: str


class TraceJson(JsonModel):
    """The trace of a request; `spans` only where one is shown."""

    id: str
    owner: str
    kind: str
    question: str | None
    strategy: str | None
    started_at: datetime
    duration_ms: float
    error: str | None
    code: str | None
    document_name: str | None = None
    spans: list[dict[str, Any]] = Field(default=[])


class EvaluationJson(JsonModel):
    """An evaluation run."""

    id: str
    set_id: str | None
    set_version: int | None
    status: str
    progress: float
    started_at: datetime | None
    finished_at: datetime | None
    error: str | None
    measures: dict[str, Any] | None


class EvaluationStartedJson(JsonModel):
    """A started evaluation run."""

    evaluation: EvaluationJson


class EvaluationSetJson(JsonModel):
    """A question set."""

    id: str
    version: int
    made_by: str
    tests: str
    questions: int | list[dict[str, Any]]


class TuningJson(JsonModel):
    """A tuning of settings."""

    id: str
    set_id: str
    status: str
    progress: float
    error: str | None
    result: dict[str, Any] | None


class TuningStartedJson(JsonModel):
    """A started tuning."""

    tuning: TuningJson


class EmbeddingJson(JsonModel):
    """One vector for each text."""

    model: str
    vectors: list[list[float]]


class UsageJson(JsonModel):
    """What a user has used, and their limits."""

    own: list[str]
    usage: dict[str, Any]
    limits: dict[str, Any]


class NewKeyJson(JsonModel):
    """A new API key, which is told only here."""

    key: str
    id: str
    name: str
    role: str
    user: str


class RevokedJson(JsonModel):
    """A revoked API key."""

    id: str
    revoked: bool


class ProfileJson(JsonModel):
    """A user's own profile."""

    id: str
    name: str
    role: str
    groups: list[str]


class ChainCheckJson(JsonModel):
    """The result of checking the audit log."""

    ok: bool
    events: int
    head: str
    fault: Any


class SettingsJson(JsonModel):
    """The current settings."""

    revision: int
    safe: bool
    values: dict[str, Any]
    items: list[dict[str, Any]]


class SettingsOutcomeJson(JsonModel):
    """The outcome of a change of settings."""

    revision: int
    changes: list[dict[str, Any]]
    profile: str | None
    reindex: list[str]
    stale_documents: int
    notes: list[str]


class SettingsProfileJson(JsonModel):
    """A profile: a named set of settings."""

    name: str
    about: str
    query: dict[str, Any]
    index: dict[str, Any]


class StatusJson(JsonModel):
    """The state of the service."""

    status: str


class IndexesJson(JsonModel):
    """Every index, and the progress of the one being built."""

    items: list[dict[str, Any]]
    building: dict[str, Any] | None
    wanting: Any


class ReindexedJson(JsonModel):
    """The number of queued documents, and the indexes."""

    documents: int
    index: IndexesJson


class StoredFlowJson(JsonModel):
    """A stored flow."""

    name: str
    version: int
    versions: int
    created_at: datetime


class DifferenceJson(JsonModel):
    """The difference between two versions."""

    document_id: str
    added: int
    removed: int
    metadata: Mapping[str, Any]
    hunks: list[dict[str, Any]]


class ModelListJson(JsonModel):
    """Models in the form of OpenAI's API."""

    object: str
    data: list[dict[str, Any]]


class CompletionJson(JsonModel):
    """A chat completion in the form of OpenAI's API, with the sources of the answer."""

    id: str
    object: str
    created: int
    model: str
    choices: list[dict[str, Any]]
    usage: dict[str, Any] | None
    sources: list[dict[str, Any]]
    citations: list[dict[str, Any]]
    warnings: list[str]


class ResponseJson(JsonModel):
    """A response in the form of OpenAI's Responses API, with the sources of the answer."""

    id: str
    object: str
    created_at: int
    status: str
    model: str
    output: list[dict[str, Any]]
    usage: dict[str, Any] | None


class ProblemJson(JsonModel):
    """An error (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    request_id: str
