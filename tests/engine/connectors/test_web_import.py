"""Documents from the web: pages and sitemaps, added once and again."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest

from pincite.core.documents.document import AddedAll, Progress, ReadRequest, Upload
from pincite.engine.connectors.web_import import WebImporter, folder_and_name, is_address, to_utf8
from pincite.errors import Invalid, NotAllowed
from pincite.outbound.fetch import Fetched
from pincite.outbound.url_policy import UrlPolicy
from pincite.text.sentences import normalise
from tests.model_server import ModelServer, Reply, model_server

Open = Callable[..., Any]


@pytest.fixture
def site() -> Iterator[ModelServer]:
    with model_server() as started:
        started.says(
            "/docs/tea",
            b"<title>Tea</title><p>Green tea steeps for two minutes.",
            kind="text/html",
            headers={"etag": '"1"'},
        )
        yield started


def with_gatherer(
    open_pincite: Open,
    site: ModelServer,
    test: Callable[[Any, WebImporter], Coroutine[Any, Any, None]],
    **settings: Any,
) -> None:
    async def go() -> None:
        allowed = (site.url.removeprefix("http://"),)
        chosen = {"web__enabled": True, "web__delay_s": 0, "web__allow_hosts": allowed} | settings
        async with open_pincite(**chosen) as pincite:
            await test(pincite, WebImporter(pincite))

    asyncio.run(go())


def urlset(*urls: str, root: str = "urlset") -> Reply:
    found = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return Reply((f"<{root} >{found}</{root}>".encode(),), kind="application/xml")


def names(result: AddedAll) -> list[str]:
    return [f"{one.document.folder}/{one.document.name}" for one in result.added]


def test_a_page_becomes_a_document_with_its_source_uri(open_pincite: Open, site: ModelServer) -> None:
    async def test(pincite: Any, gatherer: WebImporter) -> None:
        url, heard = f"{site.url}/docs/tea", list[Progress]()
        result = await gatherer.add_all([url], "web", heard.append)
        [added] = result.added
        assert (added.outcome, added.document.status, added.document.source_uri) == ("new", "completed", url)
        assert (added.document.folder, added.document.name) == ("web/127.0.0.1/docs", "tea.html")
        assert (added.document.title, added.document.mime) == ("Tea", "text/html")
        passage = await pincite.documents.read(ReadRequest(None, source_uri=url))
        assert passage.content.strip() == "Green tea steeps for two minutes."
        assert heard[0] == Progress("fetching", 1, 1, 0.0, of="page")

    with_gatherer(open_pincite, site, test)


def test_adding_a_page_again_sends_a_conditional_request(open_pincite: Open, site: ModelServer) -> None:
    async def test(_pincite: Any, gatherer: WebImporter) -> None:
        url = f"{site.url}/docs/tea"
        [first] = (await gatherer.add_all([url])).added
        page, site.replies["/docs/tea"] = site.replies["/docs/tea"], Reply(status=304)
        [second] = (await gatherer.add_all([url])).added
        assert (second.outcome, second.document.id) == ("unchanged", first.document.id)
        assert site.requests[-1][2]["if-none-match"] == '"1"'
        site.replies["/docs/tea"] = page
        assert [one.outcome for one in (await gatherer.add_all([url])).added] == ["unchanged"]
        site.says("/docs/tea", b"<p>Green tea steeps for three minutes.", kind="text/html")
        [third] = (await gatherer.add_all([url], "elsewhere")).added
        assert (third.outcome, third.document.id, third.document.versions) == ("new_version", first.document.id, 2)

    with_gatherer(open_pincite, site, test)


def test_two_pages_with_the_same_name_become_two_documents(open_pincite: Open, site: ModelServer) -> None:
    async def test(_pincite: Any, gatherer: WebImporter) -> None:
        site.says("/docs/tea.html", b"<p>Another page.", kind="text/html")
        result = await gatherer.add_all([f"{site.url}/docs/tea", f"{site.url}/docs/tea.html"])
        assert len({one.document.id for one in result.added}) == 2
        assert result.added[1].document.name.startswith("tea ")
        again = await gatherer.add_all([f"{site.url}/docs/tea.html"])
        assert [one.outcome for one in again.added] == ["unchanged"]

    with_gatherer(open_pincite, site, test)


def test_a_sitemap_adds_its_pages_of_the_same_host(open_pincite: Open, site: ModelServer) -> None:
    async def test(_pincite: Any, gatherer: WebImporter) -> None:
        site.says("/docs/coffee", b"# Coffee\n\nBlack.", kind="text/markdown")
        pages = [
            f"{site.url}/docs/tea",
            f"{site.url}/docs/coffee",
            f"{site.url}/gone",
            "http://10.0.0.1/x",
            "file:///etc/passwd",
        ]
        site.replies["/pages.xml"] = urlset(*pages)
        site.replies["/index.xml"] = urlset(f"{site.url}/pages.xml", "http://other.example/s.xml", root="sitemapindex")
        result = await gatherer.add_all([f"{site.url}/index.xml"])
        assert names(result) == ["127.0.0.1/docs/tea.html", "127.0.0.1/docs/coffee.md"]
        assert [(url.rpartition("/")[2], error.code) for url, error in result.refused] == [("gone", "provider_refused")]
        assert [url for url, reason in result.skipped if reason == "on another host"] == [
            "http://other.example/s.xml", "http://10.0.0.1/x", "file:///etc/passwd",
        ]  # fmt: skip
        assert len(result.skipped) == 3

    with_gatherer(open_pincite, site, test)


def test_a_sitemap_adds_at_most_max_pages_and_its_pages_are_no_sitemaps(open_pincite: Open, site: ModelServer) -> None:
    async def test(_pincite: Any, gatherer: WebImporter) -> None:
        for number in range(5):
            site.says(f"/{number}", f"<p>Page {number}".encode(), kind="text/html")
        site.replies["/s.xml"] = urlset(f"{site.url}/s.xml", *(f"{site.url}/{number}" for number in range(5)))
        result = await gatherer.add_all([f"{site.url}/s.xml"])
        assert names(result) == ["127.0.0.1/0.html", "127.0.0.1/1.html"]
        assert len(result.skipped) == 4

    with_gatherer(open_pincite, site, test, web__max_pages=2)


def test_a_failed_page_does_not_stop_the_others(open_pincite: Open, site: ModelServer) -> None:
    async def test(_pincite: Any, gatherer: WebImporter) -> None:
        site.says("/app", b"\0\1\2", kind="application/octet-stream")
        site.says("/lie.pdf", b"<p>no PDF", kind="application/pdf")
        urls = ["http://10.0.0.1/", "ftp://x/", f"{site.url}/app", f"{site.url}/lie.pdf", f"{site.url}/docs/tea"]
        result = await gatherer.add_all(urls)
        assert [error.code for _, error in result.refused] == [
            "private_address",
            "bad_address",
            "unsupported",
            "unsupported",
        ]
        assert names(result) == ["127.0.0.1/docs/tea.html"]

    with_gatherer(open_pincite, site, test)


def test_a_page_is_added_with_the_metadata_of_its_upload(open_pincite: Open, site: ModelServer) -> None:
    async def test(pincite: Any, gatherer: WebImporter) -> None:
        page = Upload("", b"", "in", f"{site.url}/docs/tea", title="My tea", tags=("a",))
        added = await gatherer.add(page, start=False)
        assert (added.document.title, added.document.tags, added.document.status) == ("My tea", ("a",), "pending")
        site.replies["/s.xml"] = urlset(f"{site.url}/docs/tea")
        with pytest.raises(Invalid, match="sitemap"):
            await gatherer.add(Upload("", b"", "", f"{site.url}/s.xml"))
        assert len(await pincite.documents.all()) == 1

    with_gatherer(open_pincite, site, test)


def test_web_import_is_off_by_default_and_the_error_names_the_setting(open_pincite: Open, site: ModelServer) -> None:
    async def test(_pincite: Any, gatherer: WebImporter) -> None:
        [(_, error)] = (await gatherer.add_all([f"{site.url}/docs/tea"])).refused
        assert isinstance(error, NotAllowed)
        assert "web.enabled" in str(error)
        assert "PINCITE_WEB__ENABLED" in str(error)
        assert site.requests == []

    with_gatherer(open_pincite, site, test, web__enabled=False)


# Names


def fetched(url: str, mime: str = "text/html", data: bytes = b"", charset: str = "") -> Fetched:
    return Fetched(UrlPolicy().parse(url), data, mime, charset)


@pytest.mark.parametrize(
    ("url", "mime", "place"),
    [
        ("https://x.example", "text/html", "x.example/index.html"),
        ("https://x.example/a/b/", "text/html", "x.example/a/b/index.html"),
        ("https://x.example/a/b", "text/html", "x.example/a/b.html"),
        ("https://x.example/a.html", "text/html", "x.example/a.html"),
        ("https://x.example/a.php?id=3", "text/html", "x.example/a.php id=3.html"),
        ("https://x.example/a.pdf", "application/pdf", "x.example/a.pdf"),
        ("https://x.example/a.pdf", "application/octet-stream", "x.example/a.pdf"),
        ("https://x.example/README.md", "text/plain", "x.example/README.md"),
        ("https://x.example/README.md", "text/html", "x.example/README.md.html"),
        ("https://x.example/gr%C3%B6%C3%9Fe", "text/html", "x.example/größe.html"),
        ("https://x.example/../../etc/passwd", "text/plain", "x.example/etc/passwd.txt"),
        ("https://x.example/a%2F..%2Fb%00%0A", "text/html", "x.example/a .. b.html"),
        ("https://x.example/%2e%2e/%2E", "text/html", "x.example/index.html"),
        ("https://x.example/x", "application/x-thing", "x.example/x"),
    ],
)
def test_a_page_is_named_by_its_address_and_type(url: str, mime: str, place: str) -> None:
    assert "/".join(folder_and_name(fetched(url, mime))) == place


def test_names_of_long_addresses_are_cut() -> None:
    folder, name = folder_and_name(fetched("https://x.example/" + "a/" * 600 + "b" * 600))
    assert len(folder) <= 1000
    assert len(name) < 200


def test_only_a_charset_of_the_http_header_changes_the_bytes() -> None:
    page = "<p>休暇の申請".encode("shift_jis")
    assert to_utf8(fetched("http://x.example/", data=page, charset="shift_jis")).decode("utf-8-sig") == normalise(
        "<p>休暇の申請"
    )
    assert to_utf8(fetched("http://x.example/", data=page)) == page
    assert to_utf8(fetched("http://x.example/", data=page, charset="utf-8")) == page
    assert to_utf8(fetched("http://x.example/", "application/pdf", page, "shift_jis")) == page


@pytest.mark.parametrize(
    ("text", "yes"), [("https://x", True), ("FTP://x", True), ("a.md", False), ("C:/x", False), ("./http:/x", False)]
)
def test_urls_are_distinguished_from_file_paths(text: str, yes: bool) -> None:
    assert is_address(text) is yes
