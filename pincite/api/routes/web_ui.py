"""The web page: its files, and its HTML document at every path that the page routes itself.

The files' paths contain a digest of all files. A browser may thus cache each file for ever and never mixes two
releases, since any change gives all files new paths.
"""

import base64
import gzip
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Annotated

from fastapi import APIRouter, Header
from starlette.responses import Response

from pincite.api.paths import ASSETS, VIEWS
from pincite.errors import NotFound

PAGE_FOLDER = Path(__file__).parents[2] / "page"
CONTENT_TYPES: Mapping[str, str] = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
    ".ttf": "font/ttf",
    ".pfb": "application/octet-stream",
}
"""Content types by suffix; files with other suffixes, such as licences, are not served."""
COMPRESSED_SUFFIXES = (".html", ".css", ".js", ".mjs", ".svg", ".wasm")
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'{more}; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; "
    "font-src 'self'; worker-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; "
    "require-trusted-types-for 'script'; trusted-types pincite dompurify"
)
EXTRA_SCRIPT_SOURCES: Mapping[str, str] = {"vendor/pdf/pdf.worker.min.mjs": " 'wasm-unsafe-eval'"}
"""Scripts with additional script sources: a worker uses the policy it is served with, and this one runs WebAssembly."""
_IMPORT = re.compile(r"""^(?:import|export)\b[^"';]*["'](\.{1,2}/[^"']+)["']""", re.MULTILINE)
_INLINE = re.compile(r"<script type=\"importmap\">(.*?)</script>", re.DOTALL)

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of the page, with its compressed form and its headers."""

    body: bytes
    compressed: bytes | None
    headers: Mapping[str, str]

    def response(self, accept_encoding: str) -> Response:
        """The file as a response, compressed if the client accepts gzip."""
        if self.compressed is None or "gzip" not in accept_encoding:
            return Response(self.body, headers=dict(self.headers))
        return Response(
            self.compressed, headers={**self.headers, "Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
        )


@cache
def asset_names() -> frozenset[str]:
    """Names of the served files."""
    files = (path for path in PAGE_FOLDER.rglob("*") if path.suffix in CONTENT_TYPES)
    return frozenset(path.relative_to(PAGE_FOLDER).as_posix() for path in files)


@cache
def release_digest() -> str:
    """The digest of all files, which identifies the release of the page."""
    digest = hashlib.sha256()
    for name in sorted(asset_names()):
        digest.update(name.encode() + b"\0" + hashlib.sha256((PAGE_FOLDER / name).read_bytes()).digest())
    return digest.hexdigest()[:16]


@cache
def asset(name: str) -> Asset:
    """A file of the page; clients may cache it for ever."""
    if name not in asset_names():
        raise NotFound("there is no resource at this path")
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}
    if name.endswith((".js", ".mjs")):
        headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY.format(more=EXTRA_SCRIPT_SOURCES.get(name, ""))
    return _make_asset((PAGE_FOLDER / name).read_bytes(), PurePosixPath(name).suffix, headers)


@cache
def index_page() -> Asset:
    """The HTML document of every view; it preloads the modules that the page imports."""
    text = (PAGE_FOLDER / "index.html").read_text(encoding="utf-8")
    hints = "\n".join(f'    <link rel="modulepreload" href="{{base}}/{name}">' for name in imported_modules("app.js"))
    text = text.replace("{hints}", hints.strip()).replace("{base}", f"/{ASSETS}/{release_digest()}")
    hashes = (base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode() for inline in _INLINE.findall(text))
    policy = CONTENT_SECURITY_POLICY.format(more="".join(f" 'sha256-{digest}'" for digest in hashes))
    headers = {"Cache-Control": "no-cache", "ETag": f'"{release_digest()}"', "Content-Security-Policy": policy}
    return _make_asset(text.encode(), ".html", headers)


def imported_modules(name: str) -> list[str]:
    """A script and all modules that it imports, directly or not, in the order of discovery."""
    found = [name]
    for one in found:  # the list grows during the loop
        folder = PurePosixPath(one).parent
        for target in _IMPORT.findall((PAGE_FOLDER / one).read_text(encoding="utf-8")):
            path = _resolve(folder, target)
            if path not in found:
                found.append(path)
    return found


def _resolve(folder: PurePosixPath, target: str) -> str:
    parts = list(folder.parts)
    for part in PurePosixPath(target).parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def _make_asset(body: bytes, suffix: str, headers: Mapping[str, str]) -> Asset:
    compressed = gzip.compress(body, mtime=0) if suffix in COMPRESSED_SUFFIXES else None
    return Asset(body, compressed, {"Content-Type": CONTENT_TYPES[suffix], **headers})


def file(release: str, name: str, accept_encoding: Annotated[str, Header()] = "") -> Response:
    """Serve a file of the current release; files of other releases are gone."""
    if release != release_digest():
        raise NotFound("this file belongs to another release of the page; reload the page")
    return asset(name).response(accept_encoding)


def document(if_none_match: Annotated[str, Header()] = "", accept_encoding: Annotated[str, Header()] = "") -> Response:
    """Serve the HTML document of the page for any of its views."""
    found = index_page()
    if found.headers["ETag"] in if_none_match:
        headers = {name: value for name, value in found.headers.items() if name != "Content-Type"}
        return Response(status_code=304, headers=headers)
    return found.response(accept_encoding)


def lost_page(accept_encoding: str) -> Response:
    """The HTML document with the status 404: the page says that there is nothing at this path."""
    found = index_page().response(accept_encoding)
    found.status_code = 404
    return found


PAGE_PATHS = ("/", *(f"/{view}{rest}" for view in VIEWS for rest in ("", "/{rest:path}")))
ASSET_PATH = f"/{ASSETS}/{{release}}/{{name:path}}"
WEB_UI_PATHS = (*PAGE_PATHS, ASSET_PATH)
for _address in PAGE_PATHS:
    router.add_api_route(_address, document)
router.add_api_route(ASSET_PATH, file)
