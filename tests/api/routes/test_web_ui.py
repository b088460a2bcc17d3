"""The web page's files: one document at every view, cached files, a strict policy."""

import base64
import gzip
import hashlib
import re

import httpx2
import pytest

from pincite.api.routes import web_ui
from tests.api.live_server import assert_problem


@pytest.mark.parametrize("path", ["/", *(f"/{view}" for view in web_ui.VIEWS), "/documents/some/thing", "/ask/"])
def test_every_view_is_the_same_document(anyone: httpx2.Client, path: str) -> None:
    response = anyone.get(path)
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["cache-control"] == "no-cache"
    assert response.text == web_ui.index_page().body.decode()
    again = anyone.get(path, headers={"If-None-Match": response.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_policy_lets_nothing_in_but_the_servers_own_files(anyone: httpx2.Client) -> None:
    response = anyone.get("/ask")
    policy = dict(part.strip().split(" ", 1) for part in response.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert "unsafe" not in response.headers["content-security-policy"]
    assert {policy[name] for name in ("style-src", "connect-src", "worker-src", "form-action")} == {"'self'"}
    assert (policy["frame-ancestors"], policy["base-uri"]) == ("'none'", "'none'")
    assert policy["require-trusted-types-for"] == "'script'"
    [inline] = re.findall(r"<script type=\"importmap\">(.*?)</script>", response.text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
    assert policy["script-src"] == f"'self' 'sha256-{digest}'"
    assert not re.search(r"\son\w+=|\sstyle=|<style|javascript:", response.text)


def test_every_file_the_document_names_is_there_and_may_be_kept(anyone: httpx2.Client) -> None:
    named = re.findall(r"\"(/assets/[^\"]+)\"", anyone.get("/").text)
    assert any(name.endswith("/app.js") for name in named)
    for name in named:
        response = anyone.get(name)
        assert response.status_code == 200, name
        assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert response.headers["x-content-type-options"] == "nosniff"


def test_files_are_compressed_for_clients_that_accept_gzip(anyone: httpx2.Client) -> None:
    address = f"/assets/{web_ui.release_digest()}/style.css"
    plain = anyone.get(address, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    with anyone.stream("GET", address, headers={"Accept-Encoding": "gzip"}) as packed:
        raw = b"".join(packed.iter_raw())
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(raw) == plain.content
    assert len(raw) < len(plain.content) / 2


@pytest.mark.parametrize(
    "name", ["nothing.js", "../api/page.py", "%2e%2e/api/page.py", "vendor/README.md", "vendor/licences/htm.txt", ""]
)
def test_nothing_else_is_served(anyone: httpx2.Client, name: str) -> None:
    response = anyone.get(f"/assets/{web_ui.release_digest()}/{name}")
    assert response.status_code in (401, 404)
    assert response.headers["content-type"] == "application/problem+json"


def test_files_of_another_release_are_not_there(anyone: httpx2.Client) -> None:
    problem = assert_problem(anyone.get("/assets/0123456789abcdef/app.js"), 404, "not_found")
    assert "another release" in problem["detail"]


def test_only_the_worker_that_decodes_images_may_compile(anyone: httpx2.Client) -> None:
    allowed = {
        name
        for name in web_ui.asset_names()
        if name.endswith((".js", ".mjs"))
        and "wasm-unsafe-eval" in web_ui.asset(name).headers["Content-Security-Policy"]
    }
    assert allowed == {"vendor/pdf/pdf.worker.min.mjs"}


def test_imports_of_a_script_are_preloaded() -> None:
    needed = web_ui.imported_modules("app.js")
    assert needed[0] == "app.js"
    assert "shell/frame.js" in needed
    assert "parts/icon.js" in needed
    assert set(needed) <= web_ui.asset_names()
