"""Import of web pages over HTTP."""

from collections.abc import Iterator

import httpx2
import pytest

from tests.api.live_server import LiveServer, completed
from tests.model_server import ModelServer, model_server

PATH = "/api/v1/documents/url"


@pytest.fixture(scope="module")
def site() -> Iterator[ModelServer]:
    with model_server() as started:
        started.says("/tea", b"<h1>Tea</h1><p>Two minutes.", kind="text/html", headers={"etag": '"1"'})
        yield started


@pytest.fixture(scope="module")
def open_door(
    module_database_url: str, site: ModelServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LiveServer]:
    settings = {
        "database.url": module_database_url,
        "web.enabled": True,
        "web.delay_s": 0,
        "web.allow_hosts": (site.url.removeprefix("http://"),),
    }
    with LiveServer(tmp_path_factory.mktemp("web") / "data", **settings) as live_server:
        yield live_server


@pytest.fixture
def fetching(open_door: LiveServer) -> Iterator[httpx2.Client]:
    with open_door.client("editor") as client:
        yield client


def test_a_page_is_added_once(fetching: httpx2.Client, site: ModelServer) -> None:
    body = {"url": f"{site.url}/tea", "folder": "in", "title": "My tea", "tags": ["a", "a"]}
    response = fetching.post(PATH, json=body)
    assert response.status_code == 202
    document = response.json()["document"]
    assert (document["title"], document["tags"], document["source_uri"]) == ("My tea", ["a"], body["url"])
    [done] = completed(fetching, "in")
    assert (done["status"], done["name"], done["mime"]) == ("completed", "tea.html", "text/html")
    again = fetching.post(PATH, json=body)
    assert again.status_code == 200
    assert again.json()["duplicate"] is True
    assert again.json()["document"]["id"] == document["id"]


@pytest.mark.parametrize(
    ("url", "status", "code"),
    [
        ("http://169.254.169.254/latest/meta-data/", 403, "private_address"),
        ("http://localhost/", 403, "private_address"),
        ("http://127.0.0.1:22/", 403, "port_not_allowed"),
        ("file:///etc/passwd", 422, "bad_address"),
        ("http://user@x.example/", 422, "bad_address"),
        ("http://2130706433/", 422, "bad_address"),
        ("", 422, "invalid"),
        ("http://x.example/\u0000", 422, "invalid"),
    ],
)
def test_forbidden_addresses_are_refused(fetching: httpx2.Client, url: str, status: int, code: str) -> None:
    response = fetching.post(PATH, json={"url": url})
    assert (response.status_code, response.json()["code"]) == (status, code)


def test_a_failed_fetch_is_reported(fetching: httpx2.Client, site: ModelServer) -> None:
    response = fetching.post(PATH, json={"url": f"{site.url}/gone"})
    assert (response.status_code, response.json()["code"]) == (502, "provider_refused")


def test_readers_may_not_have_pages_fetched(open_door: LiveServer, site: ModelServer) -> None:
    with open_door.client("reader") as reader:
        assert reader.post(PATH, json={"url": f"{site.url}/tea"}).status_code == 403


def test_web_import_cannot_be_enabled_at_runtime(client: httpx2.Client) -> None:
    response = client.post(PATH, json={"url": "https://x.example/"})
    assert (response.status_code, response.json()["code"]) == (403, "web_off")
    for values in ({"web.enabled": True}, {"web.allow_hosts": ["localhost"]}):
        assert client.put("/api/v1/settings", json={"values": values}).status_code == 422
