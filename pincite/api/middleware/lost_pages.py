"""Unknown paths in a browser: the page says that nothing is there, instead of a problem as JSON."""

from collections.abc import Callable, Collection

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send


class LostPages:
    """Middleware that responds to a browser's request for a path of no route; it never reaches the application."""

    def __init__(self, app: ASGIApp, known: Collection[str], page: Callable[[str], Response]) -> None:
        self._app = app
        self._known = known
        self._page = page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._is_lost(scope):
            return await self._page(Headers(scope=scope).get("accept-encoding", ""))(scope, receive, send)
        return await self._app(scope, receive, send)

    def _is_lost(self, scope: Scope) -> bool:
        """Whether a browser asks for a path whose first segment no route has."""
        if scope["method"] != "GET" or "text/html" not in Headers(scope=scope).get("accept", ""):
            return False
        return scope["path"].split("/")[1] not in self._known
