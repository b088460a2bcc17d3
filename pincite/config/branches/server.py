"""Settings of the service: database, HTTP server, limits, access, login, traces and logs."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr

from pincite.config.branches.base import Branch


def _web_origin(text: str) -> str:
    """Check a web origin: scheme, host and optional port, without a path."""
    if not re.fullmatch(r"https?://[^/?#@*\s]+", text):
        raise ValueError(f"must hold origins such as https://intranet.example, without a path (was '{text}')")
    return text


WebOrigin = Annotated[str, AfterValidator(_web_origin)]


class Database(Branch):
    """The PostgreSQL database."""

    url: SecretStr | None = Field(
        default=None,
        description="Connection URL of a PostgreSQL with pgvector, with an administrator's login, such as "
        "`postgresql://user:password@host/name`. Empty: an embedded server in the data folder.",
    )
    direct_url: SecretStr | None = Field(
        default=None,
        description="Connection URL without a pooler, where `database.url` leads through pgbouncer: for notifications, "
        "migrations, backup, restore and purge. Empty: `database.url`. See docs/many-machines.md.",
    )
    read_urls: SecretStr | None = Field(
        default=None,
        description="Connection URLs of replicas, separated by spaces: searches and lists are read from one that has "
        "everything the request must see, otherwise from the primary. See docs/many-machines.md.",
    )
    role: str = Field(
        default="pincite_app",
        pattern=r"^[a-z_][a-z0-9_]{0,62}$",
        description="Role without privileges that every transaction takes on; row-level security binds it. A second "
        "library of another owner on the same server needs a name of its own.",
    )
    pool_size: int = Field(
        default=12,
        ge=2,
        le=200,
        description="Maximum connections of this process, besides the one that listens for changed settings.",
    )
    shared_buffers_mb: int = Field(
        default=128, ge=16, le=65536, description="`shared_buffers` of the embedded server, in MB."
    )
    index_memory_mb: int = Field(
        default=128,
        ge=0,
        le=1_000_000,
        description="Memory of each process for the index of the documents its users search, in MB; a passage takes "
        "about 2.5 kB. Larger libraries are searched in PostgreSQL. 0 keeps no index in memory. See docs/strategies.md.",
    )


class Server(Branch):
    """The HTTP service."""

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=8377, ge=0, le=65535, description="Port to listen on; 0 chooses a free one.")
    allowed_hosts: tuple[str, ...] = Field(
        default=(),
        description="Accepted `Host` headers besides localhost and the listening address; protects against DNS "
        "rebinding.",
    )
    allowed_origins: tuple[WebOrigin, ...] = Field(
        default=(),
        description="Origins of other sites whose pages may call the service from a browser with a key, such as "
        "`https://intranet.example`; a wildcard is not accepted. Empty: none.",
    )
    max_body_mb: int = Field(default=64, ge=1, le=4096, description="Maximum size of a request body.")
    max_connections: int = Field(
        default=1000,
        ge=8,
        le=1_000_000,
        description="Maximum open connections, fewer if the process's limit of open files is lower; further ones are "
        "refused.",
    )


class Limits(Branch):
    """Limits per user; 0 means no limit. See docs/limits.md."""

    requests_per_minute: int = Field(
        default=6000,
        ge=0,
        le=10_000_000,
        description="Requests per user and minute, over all keys and logins. The default is far above normal use and "
        "stops a runaway program.",
    )
    questions_per_minute: int = Field(
        default=1200, ge=0, le=10_000_000, description="Questions per user and minute; they also count as requests."
    )
    anonymous_per_minute: int = Field(
        default=600,
        ge=0,
        le=10_000_000,
        description="Requests per address and minute without a valid key or login.",
    )
    streams: int = Field(default=64, ge=0, le=100_000, description="Concurrent streamed answers per user.")
    tokens_per_day: int = Field(
        default=0,
        ge=0,
        le=10**12,
        description="Tokens that models read and write per user and day (UTC). The maximum length of an answer is "
        "reserved when it starts. No limit by default, since the budget depends on the model's price.",
    )
    jobs: int = Field(
        default=0,
        ge=0,
        le=10**9,
        description="Queued documents per user. No limit by default, since the queue serves users with the fewest "
        "running jobs first.",
    )
    documents: int = Field(
        default=0,
        ge=0,
        le=10**9,
        description="Documents per user. This limit and `limits.storage_mb` do not apply to the owner of the data "
        "folder.",
    )
    storage_mb: int = Field(
        default=0, ge=0, le=10**9, description="Storage per user in megabytes, all versions of all files."
    )
    at_once: int = Field(
        default=4,
        ge=1,
        le=1000,
        description="Concurrent searches per server; each uses two database connections (`database.pool_size`). A "
        "question counts only until its passages are found. Further searches wait, each user in turn.",
    )
    waiting: int = Field(
        default=128, ge=0, le=100_000, description="Maximum waiting searches; further ones are refused at once (503)."
    )
    waiting_per_user: int = Field(
        default=32,
        ge=0,
        le=100_000,
        description="Maximum waiting searches per user while others wait too; further ones are refused at once (429).",
    )


class Access(Branch):
    """Access of administrators to the data of other users."""

    administrators_read: bool = Field(
        default=False,
        description="Whether administrators may read users' documents, conversations and traces (`?owner=USER`); each "
        "access is recorded in the audit log. Otherwise they read only what is shared with them, like any user.",
    )


class Oidc(Branch):
    """Login through an OpenID Connect provider; see docs/oidc.md. Needs the extra `oidc`."""

    issuer: str = Field(
        default="",
        description="Issuer URL, such as `https://login.example/realms/staff`. Empty: no OpenID Connect login.",
    )
    client_id: str = Field(default="", description="Client id of this service at the provider.")
    client_secret: SecretStr | None = Field(
        default=None, description="Client secret, if the provider requires one. From the environment only."
    )
    redirect_url: str = Field(
        default="",
        description="Redirect URL registered at the provider: the public URL of `/api/v1/auth/oidc/callback`. Empty: "
        "derived from the request.",
    )
    scopes: tuple[str, ...] = Field(
        default=("openid", "profile", "email"), description="Scopes requested from the provider."
    )
    name_claim: str = Field(
        default="preferred_username",
        description="Claim used as the user name at the first login; `email` is accepted only if it is verified.",
    )
    groups_claim: str = Field(
        default="",
        description="Claim that lists groups: each login adds the user to the existing groups of these names and "
        "removes them from all others. Empty: groups are managed in pincite.",
    )
    create_users: bool = Field(
        default=False,
        description="Whether an unknown user is created at the first login; otherwise the login is refused.",
    )
    create_role: Literal["reader", "editor"] = Field(default="reader", description="Role of users created this way.")
    allow_hosts: tuple[str, ...] = Field(
        default=(), description="Hosts besides the issuer's own that may serve the token and key endpoints."
    )
    timeout_s: float = Field(default=10, gt=0, le=60, description="Timeout of a request to the provider, in seconds.")


class Traces(Branch):
    """Recorded traces of requests."""

    content: bool = Field(
        default=False,
        description="Store text in traces: the question, its standalone form, the caller's system prompt, the answer "
        "and the model's reasoning, and nothing else. Without it a trace holds only ids, counts, scores and times, "
        "and a replay needs the question again.",
    )
    retention_days: int = Field(default=30, ge=1, le=3650, description="Days until a trace is deleted.")
    otlp_endpoint: str = Field(
        default="",
        description="Full URL of an OpenTelemetry collector that also receives the traces, such as "
        "`http://127.0.0.1:4318/v1/traces`. Needs the extra `otlp`; headers come from `OTEL_EXPORTER_OTLP_HEADERS`. "
        "Text is never sent.",
    )


class Logs(Branch):
    """Log output of `pincite serve` on stderr."""

    format: Literal["text", "json"] = Field(default="text", description="Readable lines, or one JSON object per line.")
    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info",
        description="Minimum severity; `info` logs a line per request, `debug` adds tracebacks of errors.",
    )
