"""The id of the request being served, for log lines and calls to providers."""

from contextvars import ContextVar

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""Empty outside of a request."""
