"""The request being served: its id, where it comes from, and the caller's own trace."""

import re
from contextvars import ContextVar
from dataclasses import dataclass

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""Empty outside of a request."""
deadline: ContextVar[float | None] = ContextVar("due", default=None)
"""When the question being answered must be done, by `time.monotonic`; None outside of one."""
remote_span: ContextVar[str | None] = ContextVar("remote_span", default=None)
"""The span of the client's that this request is part of, as `trace id-span id`, where it told one."""

address: ContextVar[str] = ContextVar("address", default="")
"""Where the request comes from; empty for the command line and the library."""
key_id: ContextVar[str | None] = ContextVar("key_id", default=None)
"""The key it came with, where that is how its caller came in."""
read_only: ContextVar[bool] = ContextVar("looking", default=False)
"""Whether somebody looks at what belongs to another: then nothing is written."""


@dataclass(frozen=True, slots=True)
class RequestOrigin:
    """Where something that is done comes from."""

    address: str = ""
    key_id: str | None = None
    request_id: str = ""


def origin() -> RequestOrigin:
    """Where what is being done comes from."""
    return RequestOrigin(address.get(), key_id.get(), request_id.get())


_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-.*)?")


def read_traceparent(header: str) -> str | None:
    """The span that a W3C `traceparent` header names; None for a header that is not one."""
    found = _TRACEPARENT.fullmatch(header.strip())
    if found is None or (header.strip().startswith("00-") and found[3]):
        return None
    return f"{found[1]}-{found[2]}"
