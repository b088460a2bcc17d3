"""The browsable description of the HTTP API: three files of our own, without a network and without a login."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from fastapi import APIRouter
from starlette.responses import Response

DOCS_FOLDER = Path(__file__).parents[1] / "docs_page"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
)
FILES: Mapping[str, tuple[str, str]] = {
    "/docs": ("docs.html", "text/html; charset=utf-8"),
    "/docs/docs.js": ("docs.js", "text/javascript; charset=utf-8"),
    "/docs/docs.css": ("docs.css", "text/css; charset=utf-8"),
}

router = APIRouter(include_in_schema=False)


@cache
def _text(name: str) -> str:
    return (DOCS_FOLDER / name).read_text(encoding="utf-8")


def _file(path: str) -> Response:
    name, media_type = FILES[path]
    headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-cache"}
    return Response(_text(name), media_type=media_type, headers=headers)


@router.get("/docs")
async def docs() -> Response:
    """The page that lists all operations."""
    return _file("/docs")


@router.get("/docs/docs.js")
async def script() -> Response:
    """The script of the page."""
    return _file("/docs/docs.js")


@router.get("/docs/docs.css")
async def style() -> Response:
    """The style of the page."""
    return _file("/docs/docs.css")
