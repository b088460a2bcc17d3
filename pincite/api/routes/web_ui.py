"""The page: its files, and its one document at every address that the page itself makes sense of.

Files are served under the digest of them all, so that a browser may keep each for ever and never mixes two
releases: whatever changes, changes the address of everything.
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
"""What is served; a file of another kind, such as a licence, is not."""
COMPRESSED_SUFFIXES = (".html", ".css", ".js", ".mjs", ".svg", ".wasm")
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'{more}; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; "
    "font-src 'self'; worker-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; "
    "require-trusted-types-for 'script'; trusted-types pincite dompurify"
)
EXTRA_SCRIPT_SOURCES: Mapping[str, str] = {"vendor/pdf/pdf.worker.min.mjs": " 'wasm-unsafe-eval'"}
"""Scripts with a policy of their own: a worker goes by the one it is served with, and this one decodes images."""
_IMPORT = re.compile(r"""^(?:import|export)\b[^"';]*["'](\.{1,2}/[^"']+)["']""", re.MULTILINE)
_INLINE = re.compile(r"<script type=\"importmap\">(.*?)</script>", re.DOTALL)

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Asset:
    """A file as it is sent."""

    body: bytes
    packed: bytes | None
    headers: Mapping[str, str]

    def response(self, accepts: str) -> Response:
        """The file, compressed for whoever can unpack it."""
        if self.packed is None or "gzip" not in accepts:
            return Response(self.body, headers=dict(self.headers))
        return Response(self.packed, headers={**self.headers, "Content-Encoding": "gzip", "Vary": "Accept-Encoding"})


@cache
def asset_names() -> frozenset[str]:
    """The files that are served."""
    files = (path for path in PAGE_FOLDER.rglob("*") if path.suffix in CONTENT_TYPES)
    return frozenset(path.relative_to(PAGE_FOLDER).as_posix() for path in files)


@cache
def release_digest() -> str:
    """The digest of all files: what the page's release is known by."""
    digest = hashlib.sha256()
    for name in sorted(asset_names()):
        digest.update(name.encode() + b"\0" + hashlib.sha256((PAGE_FOLDER / name).read_bytes()).digest())
    return digest.hexdigest()[:16]


@cache
def asset(name: str) -> Asset:
    """One of the files, which may be kept for ever."""
    if name not in asset_names():
        raise NotFound("there is nothing at this address")
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}
    if name.endswith((".js", ".mjs")):
        headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY.format(more=EXTRA_SCRIPT_SOURCES.get(name, ""))
    return _make_asset((PAGE_FOLDER / name).read_bytes(), PurePosixPath(name).suffix, headers)


@cache
def index_page() -> Asset:
    """The document that every view begins with; it names the files it will need, so that they come at once."""
    text = (PAGE_FOLDER / "index.html").read_text(encoding="utf-8")
    hints = "\n".join(f'    <link rel="modulepreload" href="{{base}}/{name}">' for name in imported_modules("app.js"))
    text = text.replace("{hints}", hints.strip()).replace("{base}", f"/{ASSETS}/{release_digest()}")
    hashes = (base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode() for inline in _INLINE.findall(text))
    policy = CONTENT_SECURITY_POLICY.format(more="".join(f" 'sha256-{digest}'" for digest in hashes))
    headers = {"Cache-Control": "no-cache", "ETag": f'"{release_digest()}"', "Content-Security-Policy": policy}
    return _make_asset(text.encode(), ".html", headers)


def imported_modules(name: str) -> list[str]:
    """A script and all that it imports by itself, in the order they are met."""
    found = [name]
    for one in found:  # grows while it is walked through
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
    packed = gzip.compress(body, mtime=0) if suffix in COMPRESSED_SUFFIXES else None
    return Asset(body, packed, {"Content-Type": CONTENT_TYPES[suffix], **headers})


def file(release: str, name: str, accept_encoding: Annotated[str, Header()] = "") -> Response:
    """One of the page's files; those of another release are not there any more."""
    if release != release_digest():
        raise NotFound("this file belongs to another release of the page; load the page again")
    return asset(name).response(accept_encoding)


def document(if_none_match: Annotated[str, Header()] = "", accept_encoding: Annotated[str, Header()] = "") -> Response:
    """The page, whichever of its views is asked for."""
    found = index_page()
    if found.headers["ETag"] in if_none_match:
        kept = {name: value for name, value in found.headers.items() if name != "Content-Type"}
        return Response(status_code=304, headers=kept)
    return found.response(accept_encoding)


PAGE_PATHS = ("/", *(f"/{view}{rest}" for view in VIEWS for rest in ("", "/{rest:path}")))
ASSET_PATH = f"/{ASSETS}/{{release}}/{{name:path}}"
WEB_UI_PATHS = (*PAGE_PATHS, ASSET_PATH)
for _address in PAGE_PATHS:
    router.add_api_route(_address, document)
router.add_api_route(ASSET_PATH, file)
