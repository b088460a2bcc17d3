"""Context variables of the request being served: its id, deadline, client address, API key and remote span."""

import re
from contextvars import ContextVar
from dataclasses import dataclass

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the request; empty outside of a request."""
deadline: ContextVar[float | None] = ContextVar("due", default=None)
"""The deadline of the question being answered, as `time.monotonic`; None outside of a question."""
remote_span: ContextVar[str | None] = ContextVar("remote_span", default=None)
"""The client's span that this request belongs to, as `trace id-span id`; None if the client sent none."""

address: ContextVar[str] = ContextVar("address", default="")
"""The client address of the request; empty for the command line and the Python library."""
key_id: ContextVar[str | None] = ContextVar("key_id", default=None)
"""The id of the API key the caller authenticated with; None without a key."""
read_only: ContextVar[bool] = ContextVar("looking", default=False)
"""Whether an administrator reads as another user; nothing is written then."""


@dataclass(frozen=True, slots=True)
class RequestOrigin:
    """The client address, API key and request id that an action came with."""

    address: str = ""
    key_id: str | None = None
    request_id: str = ""


def origin() -> RequestOrigin:
    """Return the origin of the current request."""
    return RequestOrigin(address.get(), key_id.get(), request_id.get())


_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-.*)?")


def read_traceparent(header: str) -> str | None:
    """Return the span of a W3C `traceparent` header; None if the header is malformed."""
    found = _TRACEPARENT.fullmatch(header.strip())
    if found is None or (header.strip().startswith("00-") and found[3]):
        return None
    return f"{found[1]}-{found[2]}"
