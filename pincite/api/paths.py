"""Addresses of the service: where the API lives, and which addresses are the web page's."""

API = "/api/v1"
"""Prefix of every route but the page, `/v1` and `/mcp`."""
VIEWS = ("ask", "documents", "traces", "bench", "evaluation", "settings", "setup", "login", "share")
"""Views of the page; the rest of such an address is the view's own."""
ASSETS = "assets"
"""Where the page's files lie."""


def is_web_page(path: str) -> bool:
    """Whether an address is the page's: open to anyone, as it holds nothing but the page."""
    return path == "/" or path.split("/")[1] in (*VIEWS, ASSETS)
