"""Hostile URLs, headers, keys and fields."""

import http.client
import io
import logging
import re
import time
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from pincite.tracing.logs import JsonLines, ReadableLines
from tests.api.live_server import LiveServer, assert_problem, completed, upload
from tests.api.test_matrix import ELSEWHERE, TABLE, Row

API = "/api/v1"


def raw(
    live_server: LiveServer, target: str, *headers: tuple[str, str], method: str = "GET"
) -> tuple[int, str, dict[str, str]]:
    """A request whose address and headers no client tidies up."""
    connection = http.client.HTTPConnection(urlsplit(live_server.url).netloc, timeout=10)
    connection.putrequest(method, target, skip_host=any(name == "Host" for name, _ in headers))
    for name, value in headers:
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    text, found = response.read().decode(), {name.lower(): value for name, value in response.getheaders()}
    connection.close()
    return response.status, text, found


@pytest.mark.parametrize(
    "path",
    [
        "//api/v1/users",
        "/api//v1/users",
        "/api/v1//users",
        "/api/v1/users/",
        "/api/v1/./users",
        "/API/V1/users",
        "/api/v1/users;x=1",
        "/api/v1/auth/login;/users",
        "/api/v1/health/live/../users",
        "/api/v1/users?/health/live",
        "/api/v1/health/live/..;/users",
        "/api/v1/health%2flive",
        "/api%2fv1%2fusers",
        "/api/v1/health/live%2f..%2fusers",
        "/api/v1/users%2f",
        "/api/v1/%75sers",
        "/api/v1/users%23",
        "/api/v1/users%3f",
        "/%2e%2e/api/v1/users",
        "/api/v1/health/live#/../users",
        "/api/v1/auth/login/../../users",
        "/\\api\\v1\\users",
        "/api/v1/us%65rs%20",
    ],
)
def test_no_spelling_of_a_path_bypasses_authentication(live_server: LiveServer, path: str) -> None:
    status, text, _ = raw(live_server, path)
    assert status in (200, 400, 401, 404), text
    if status == 200:
        assert "live" in path  # what is open anyway
        assert '"items"' not in text
    key = ("Authorization", f"Bearer {live_server.keys['reader']}")
    status, text, _ = raw(live_server, path, key)
    assert status in (200, 400, 401, 403, 404), text
    assert '"items"' not in text


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "evil.example:80", "[::1", "a b", ""])
def test_another_host_is_refused_and_named_nowhere(live_server: LiveServer, host: str) -> None:
    status, text, headers = raw(live_server, f"{API}/health/live", ("Host", host))
    assert status == 400
    assert "evil" not in text + str(headers)


def test_a_header_cannot_be_smuggled_into_the_answer(
    live_server: LiveServer, client: httpx2.Client, folder: str
) -> None:
    name = 'a"; filename=evil.exe.md'
    upload(client, name, "# A", folder=folder)
    [document] = completed(client, folder)
    answer = client.get(f"{API}/documents/{document['id']}/file")
    assert answer.headers["content-disposition"].startswith("attachment; filename=")
    assert "\n" not in answer.headers["content-disposition"]
    for target in (f"{API}/documents/x%0d%0aSet-Cookie:%20a=b", f"{API}/documents?cursor=%0d%0aX-Evil:1"):
        _, text, headers = raw(live_server, target, ("Authorization", f"Bearer {live_server.keys['reader']}"))
        assert not {"set-cookie", "x-evil"} & set(headers)
        assert "\r\n" not in text
    _, _, headers = raw(live_server, "/", ("X-Request-ID", "abcdefgh\tX-Evil"))
    assert "evil" not in str(headers).lower()


def test_a_file_is_saved_and_never_shown_and_nothing_in_it_runs(client: httpx2.Client, folder: str) -> None:
    upload(client, "page.html", "<html><body><p>Hello there.</p><script>alert(1)</script></body></html>", folder=folder)
    [document] = completed(client, folder)
    answer = client.get(f"{API}/documents/{document['id']}/file")
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_what_a_client_sends_never_breaks_a_log_line(live_server: LiveServer) -> None:
    hostile = f"{API}/documents/x%0d%0aERROR%20forged%1b[31m%e2%80%ae%c2%9b"
    lines = io.StringIO()
    handlers = [logging.StreamHandler(lines), logging.StreamHandler(lines)]
    handlers[0].setFormatter(ReadableLines())
    handlers[1].setFormatter(JsonLines())
    log = logging.getLogger("pincite")
    before = log.level
    log.setLevel(logging.INFO)
    for handler in handlers:
        log.addHandler(handler)
    try:
        raw(live_server, hostile, ("Authorization", "Bearer \x1b[2J"), ("User-Agent", "a\x1b]0;evil\x07"))
        give_up = time.monotonic() + 10
        while lines.getvalue().count("forged") < 3 and time.monotonic() < give_up:  # its line is out after its answer
            time.sleep(0.01)
    finally:
        for handler in handlers:
            log.removeHandler(handler)
        log.setLevel(before)
    told = lines.getvalue()
    assert all(re.match(r'\d{4}-\d\d-\d\dT|{"time": ', line) for line in told.splitlines()), told
    assert len([line for line in told.split("\n") if "forged" in line]) == 2
    assert told.isascii()
    assert all(character.isprintable() for character in told.replace("\n", ""))


@pytest.mark.parametrize("carrier", ["X-API-Key", "Api-Key", "X-Auth-Token", "Proxy-Authorization", "Cookie"])
def test_a_key_is_accepted_in_its_header_only(live_server: LiveServer, anyone: httpx2.Client, carrier: str) -> None:
    key = live_server.keys["administrator"]
    value = f"pincite_login={key}; key={key}" if carrier == "Cookie" else f"Bearer {key}"
    for given in (value, key):
        assert_problem(anyone.get(f"{API}/documents", headers={carrier: given}), 401, "unauthorized")


GRABBED: dict[str, Any] = {"owner": "stranger", "owner_id": "stranger", "is_admin": True, "realm": 1, "person": "local"}


LENIENT = ("POST /v1/", "POST /mcp")
"""Routes whose clients send what we do not know, which is passed over."""


@pytest.mark.parametrize(
    "name", sorted(n for n, row in TABLE.items() if row.body is not None and row.right and not n.startswith(LENIENT))
)
def test_a_field_that_clients_may_not_set_is_refused_by_name(client: httpx2.Client, name: str) -> None:
    row: Row = TABLE[name]
    method, path = name.split(" ", 1)
    path = path.replace("{", "").replace("}", "")
    body = (
        {} if name == "PUT /settings" else row.body
    )  # there each field is a setting, and the first that is none is told
    address = path if path.startswith(ELSEWHERE) else f"{API}{path}"
    for field, value in sorted(GRABBED.items()):
        refused = client.request(method, address, params=dict(row.params), json={**body, field: value})
        assert field in assert_problem(refused, 422, "invalid")["detail"]


def test_an_uploads_owner_is_whoever_uploads(client: httpx2.Client, folder: str) -> None:
    for field in GRABBED:
        refused = upload(client, "a.md", "# A", folder=folder, **{field: "stranger"})
        assert field in assert_problem(refused, 422, "invalid")["detail"]
    upload(client, "a.md", "# A", folder=folder)
    [document] = completed(client, folder)
    assert document["access"]["owner"] == "local"
