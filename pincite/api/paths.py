"""Paths of the service: the API prefix, and the paths of the web page."""

API = "/api/v1"
"""Prefix of every route except the web page, `/v1` and `/mcp`."""
VIEWS = (
    "ask",
    "documents",
    "entities",
    "traces",
    "flows",
    "sources",
    "bench",
    "evaluation",
    "settings",
    "setup",
    "login",
    "share",
    "account",
)
"""Views of the web page; each view interprets the rest of its path."""
ASSETS = "assets"
"""First path segment of the web page's files."""


def is_web_page(path: str) -> bool:
    """Whether a path belongs to the web page, which is public as it holds no user data."""
    return path == "/" or path.split("/")[1] in (*VIEWS, ASSETS)
