"""Where pincite listens, who may come in, and what is kept about requests."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr

from pincite.config.branches.base import Branch


def _web_origin(text: str) -> str:
    """What a browser calls an origin: scheme, host and, where it is not the usual one, port."""
    if not re.fullmatch(r"https?://[^/?#@*\s]+", text):
        raise ValueError(f"must hold origins such as https://intranet.example, without a path; '{text}' is none")
    return text


WebOrigin = Annotated[str, AfterValidator(_web_origin)]


class Database(Branch):
    """Where the facts, vectors and words live."""

    url: SecretStr | None = Field(
        default=None,
        description="An administrator's login to a PostgreSQL with pgvector, such as "
        "`postgresql://user:password@host/name`. Empty: an embedded server in the data folder.",
    )
    pool_size: int = Field(
        default=12,
        ge=2,
        le=200,
        description="Connections this process keeps at most, beside the one that listens for changed settings.",
    )
    shared_buffers_mb: int = Field(
        default=128, ge=16, le=65536, description="Memory the embedded server sets aside for pages."
    )


class Server(Branch):
    """The HTTP service."""

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=8377, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    allowed_hosts: tuple[str, ...] = Field(
        default=(),
        description="Host names requests may name besides localhost and the "
        "address listened on; protects against DNS rebinding.",
    )
    allowed_origins: tuple[WebOrigin, ...] = Field(
        default=(),
        description="Pages of other sites that may call the service from a browser, by a key, such as "
        "`https://intranet.example`; never all of them. Empty: none.",
    )
    max_body_mb: int = Field(default=64, ge=1, le=4096, description="Largest request body.")
    max_connections: int = Field(
        default=1000,
        ge=8,
        le=1_000_000,
        description="Connections open at once, fewer where the process may not open so many files; the next is refused.",
    )


class Limits(Branch):
    """How much one user may use, so that nobody spoils it for others; 0 is as much as they like. See docs/limits.md."""

    requests_per_minute: int = Field(
        default=6000,
        ge=0,
        le=10_000_000,
        description="Requests of one user a minute, over all their keys and logins: far above what people and their "
        "programs make, and below what a program gone wild does.",
    )
    questions_per_minute: int = Field(
        default=1200, ge=0, le=10_000_000, description="Questions among these, which a model answers."
    )
    anonymous_per_minute: int = Field(
        default=600,
        ge=0,
        le=10_000_000,
        description="Requests from one address a minute that bring no key or login that counts.",
    )
    streams: int = Field(
        default=64, ge=0, le=100_000, description="Answers of one user that are on their way at once as streams."
    )
    tokens_per_day: int = Field(
        default=0,
        ge=0,
        le=10**12,
        description="Tokens that models read and write a day (UTC) to answer one user; what an answer may be long at most "
        "is set aside when it begins. Off: who pays for a model knows what they can spend.",
    )
    jobs: int = Field(
        default=0,
        ge=0,
        le=10**9,
        description="Documents of one user that wait to be processed. Off: who has least in hand goes before others anyway.",
    )
    documents: int = Field(
        default=0,
        ge=0,
        le=10**9,
        description="Documents one user may own. This and the next do not hold for the owner of the data folder.",
    )
    storage_mb: int = Field(
        default=0, ge=0, le=10**9, description="Megabytes that the files of one user may take, all their versions."
    )
    at_once: int = Field(
        default=4,
        ge=1,
        le=1000,
        description="Searches that one server makes at the same time, two database connections each (`database.pool_size`); "
        "a question needs its place only until its passages are found. Others wait, each user in turn.",
    )
    waiting: int = Field(
        default=128, ge=0, le=100_000, description="Searches that may wait for that; the next is refused at once (503)."
    )
    waiting_per_user: int = Field(
        default=32,
        ge=0,
        le=100_000,
        description="Those of one user among them while others are there, too; their next is refused at once (429).",
    )


class Access(Branch):
    """What administrators see of others."""

    administrators_read: bool = Field(
        default=False,
        description="Whether administrators may look at users' documents, conversations and traces (`?owner=USER`); "
        "each look is in the audit log. Otherwise they read what is shared with them, as anybody does.",
    )


class Oidc(Branch):
    """Logging in through a provider (OpenID Connect); see docs/oidc.md. Needs the extra `oidc`."""

    issuer: str = Field(
        default="", description="The provider's address, such as `https://login.example/realms/staff`. Empty: none."
    )
    client_id: str = Field(default="", description="What the provider calls this service.")
    client_secret: SecretStr | None = Field(
        default=None, description="What proves that to it, where it asks for that. From the environment only."
    )
    redirect_url: str = Field(
        default="",
        description="Where the provider sends browsers back to, as registered there: the address of "
        "`/api/v1/auth/oidc/callback` as browsers see it. Empty: as the request names it.",
    )
    scopes: tuple[str, ...] = Field(
        default=("openid", "profile", "email"), description="What the provider is asked for."
    )
    name_claim: str = Field(
        default="preferred_username",
        description="The claim that is a user's name here, the first time; `email` counts only if it is verified.",
    )
    groups_claim: str = Field(
        default="",
        description="The claim that lists groups: at each login the user is put into those of these names that exist here, "
        "and taken out of all others. Empty: groups are managed here.",
    )
    create_users: bool = Field(
        default=False, description="Whether somebody the provider vouches for and nobody knows is added; else refused."
    )
    create_role: Literal["reader", "editor"] = Field(default="reader", description="The role they get then.")
    allow_hosts: tuple[str, ...] = Field(
        default=(), description="Hosts besides the issuer's own that the provider may name for its tokens and keys."
    )
    timeout_s: float = Field(default=10, gt=0, le=60, description="Longest wait for the provider, in seconds.")


class Traces(Branch):
    """What is kept about past requests."""

    content: bool = Field(
        default=False,
        description="Keep words in traces: the question, what it means on its own, the caller's system prompt, the answer and "
        "what the model thought before it, and nothing else. A replay needs them, or is given the question again. Without it a trace holds ids, "
        "counts, scores and times only.",
    )
    retention_days: int = Field(default=30, ge=1, le=3650, description="Days a trace is kept.")
    otlp_endpoint: str = Field(
        default="",
        description="Where to send traces as well: an OpenTelemetry collector's full address, such as "
        "`http://127.0.0.1:4318/v1/traces`. Needs the extra `otlp`; headers for it come from "
        "`OTEL_EXPORTER_OTLP_HEADERS`. Words are never sent.",
    )


class Logs(Branch):
    """What `pincite serve` tells on stderr."""

    format: Literal["text", "json"] = Field(default="text", description="Readable lines, or a JSON object a line.")
    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info",
        description="The least that is told; `info` has a line for each request, `debug` where errors came from.",
    )
