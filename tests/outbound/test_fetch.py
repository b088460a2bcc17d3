"""Fetching pages: politely, within limits, and only from where everybody can reach."""

import asyncio
import gzip
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pincite.config.sources import load_settings
from pincite.errors import BadRequest, NotAllowed, PinciteError, ProviderBusy, ProviderError, ProviderRefused, TooLarge
from pincite.outbound.fetch import Fetched, Resolve, Stamp, Web
from tests.model_server import ModelServer, Reply, model_server
from tests.outbound.test_url_policy import MALFORMED, PRIVATE

PAGE = b"<p>Hello"


@pytest.fixture
def site() -> Iterator[ModelServer]:
    with model_server() as started:
        started.says("/page", PAGE, kind="text/html; charset=koi8-r", headers={"etag": '"1"', "last-modified": "then"})
        yield started


def port_of(site: ModelServer) -> int:
    return int(site.url.rpartition(":")[2])


def at(site: ModelServer, path: str = "/page", host: str = "site.example") -> str:
    return f"http://{host}:{port_of(site)}{path}"


def leading_to(*machines: str) -> Resolve:
    """A name service that says the same of every host; a real one would know none of them."""

    async def resolve(_host: str, _port: int) -> list[str]:
        return list(machines)

    return resolve


def web(site: ModelServer | None = None, resolve: Resolve | None = None, **changes: Any) -> Web:
    """One that may call the site under the name `site.example` only."""
    allowed = (f"site.example:{port_of(site)}",) if site else ()
    given = {"web.enabled": True, "web.delay_s": 0, "web.timeout_s": 5, "web.allow_hosts": allowed}
    settings = load_settings(given | {f"web.{name}": value for name, value in changes.items()}, env={})
    return Web(lambda: settings.web, resolve or leading_to("127.0.0.1"))


def get(web: Web, url: str, stamp: Stamp = Stamp()) -> Fetched:  # noqa: B008
    return asyncio.run(web.get(url, stamp))


def refused(kind: type[PinciteError], web: Web, url: str) -> PinciteError:
    with pytest.raises(kind) as caught:
        get(web, url)
    return caught.value


def paths(site: ModelServer) -> list[str]:
    return [path for path, _, _ in site.requests]


def test_a_page_is_fetched_with_what_its_server_says_about_it(site: ModelServer):
    found = get(web(site), at(site))
    assert (found.data, found.mime, found.charset) == (PAGE, "text/html", "koi8-r")
    assert found.stamp == Stamp('"1"', "then")
    assert paths(site) == ["/robots.txt", "/page"]


def test_the_machine_that_was_checked_is_called_under_the_name_that_was_asked_for(site: ModelServer):
    """No name service knows `site.example`: whoever looked it up a second time would fail."""
    get(web(site), at(site))
    _, _, headers = site.requests[-1]
    assert headers["host"] == f"site.example:{port_of(site)}"
    assert headers["user-agent"].startswith("pincite/")
    assert not {"cookie", "authorization", "referer", "x-request-id"} & set(headers)


def test_fetching_is_disabled_by_default(site: ModelServer):
    error = refused(NotAllowed, web(site, enabled=False), at(site))
    assert error.code == "web_off"
    assert "web.enabled" in str(error)
    assert site.requests == []


@pytest.mark.parametrize("url", MALFORMED)
def test_hostile_addresses_open_no_connection(url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(socket.socket, "connect", pytest.fail)
    refused(BadRequest, web(), url)


@pytest.mark.parametrize("machine", PRIVATE)
def test_names_that_lead_to_private_machines_open_no_connection(machine: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(socket.socket, "connect", pytest.fail)
    assert refused(NotAllowed, web(resolve=leading_to(machine)), "http://rebound.example/").code == "private_address"


def test_one_private_ip_address_of_a_host_is_enough_to_refuse_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(socket.socket, "connect", pytest.fail)
    assert refused(NotAllowed, web(resolve=leading_to("8.8.8.8", "10.0.0.1")), "http://two.example/")


def test_a_name_that_leads_elsewhere_the_second_time_is_refused_then(site: ModelServer):
    """As in DNS rebinding: each call looks up once, checks what it got, and calls that."""
    asked: list[str] = []

    async def resolve(host: str, _port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["169.254.169.254"]

    refused(NotAllowed, web(site, resolve), at(site))
    assert asked == ["site.example", "site.example"]
    assert paths(site) == ["/robots.txt"]


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1/",
        "http://localhost/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]/",
        "file:///etc/passwd",
        "http://other.example/",
        "//127.0.0.1/x",
        "http://user@site.example/",
        "http://127.1/",
        "gopher://x/",
        "http://[::ffff:7f00:1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[bad/",
        "http://site.example:22/",
        "\\\\127.0.0.1\\x",
    ],
)
def test_each_step_of_a_chain_is_checked(site: ModelServer, target: str):
    site.says("/chain", status=301, headers={"location": "/next"})
    site.says("/next", status=302, headers={"location": target})
    refused(PinciteError, web(site), at(site, "/chain"))
    assert paths(site)[:3] == ["/robots.txt", "/chain", "/next"]
    assert len(paths(site)) <= 4  # a path of the same site is asked for, and not there


def test_the_number_of_redirects_is_limited(site: ModelServer):
    for number in range(6):
        site.says(f"/{number}", status=302, headers={"location": f"/{number + 1}"})
    site.says("/6", PAGE, kind="text/html")
    assert get(web(site, max_redirects=6), at(site, "/0")).address.path == "/6"
    assert "web.max_redirects" in str(refused(ProviderRefused, web(site, max_redirects=5), at(site, "/0")))


def test_cookies_are_not_kept(site: ModelServer):
    site.says("/a", status=302, headers={"location": "/page", "set-cookie": "session=1; Path=/"})
    get(web(site), at(site, "/a"))
    assert all("cookie" not in headers for _, _, headers in site.requests)


def test_conditional_requests_send_the_validators(site: ModelServer):
    site.says("/page", status=304)
    found = get(web(site), at(site), Stamp('"1"', "then"))
    assert found.unchanged
    _, _, headers = site.requests[-1]
    assert (headers["if-none-match"], headers["if-modified-since"]) == ('"1"', "then")
    refused(ProviderRefused, web(site), at(site))  # nothing was shown, so nothing can be unchanged


def test_robots_are_obeyed(site: ModelServer):
    site.says("/robots.txt", b"User-agent: *\nDisallow: /page\n", kind="text/plain")
    assert refused(NotAllowed, web(site), at(site)).code == "robots"
    assert paths(site) == ["/robots.txt"]


def test_robots_are_asked_for_once(site: ModelServer):
    async def go() -> None:
        polite = web(site)
        await polite.get(at(site))
        await polite.get(at(site))

    asyncio.run(go())
    assert paths(site) == ["/robots.txt", "/page", "/page"]


def test_a_site_with_an_unavailable_robots_txt_is_not_fetched(site: ModelServer):
    site.says("/robots.txt", status=503)
    refused(ProviderBusy, web(site), at(site))
    assert paths(site) == ["/robots.txt"]


def test_requests_to_one_host_have_a_delay(site: ModelServer):
    started = time.monotonic()
    get(web(site, delay_s=0.2), at(site))
    assert time.monotonic() - started >= 0.2


@pytest.mark.parametrize(
    "reply",
    [
        lambda: Reply((b"x" * 700_000,)),
        lambda: Reply((b"x" * 300_000,) * 3),
        lambda: Reply((gzip.compress(b"x" * 50_000_000, 1),), headers={"content-encoding": "gzip"}),
        lambda: Reply(headers={"content-length": "99999999999"}, cut=False),
    ],
    ids=["one piece", "pieces", "bomb", "announced"],
)
def test_the_size_of_a_page_is_limited(site: ModelServer, reply: Callable[[], Reply]):
    site.replies["/page"] = reply()
    assert "web.max_mb" in str(refused(TooLarge, web(site, max_mb=0.5), at(site)))


def test_packed_pages_are_unpacked(site: ModelServer):
    site.says("/page", gzip.compress(PAGE), headers={"content-encoding": "gzip"})
    assert get(web(site), at(site)).data == PAGE


@pytest.mark.parametrize("encoding", ["br", "zstd", "deflate", "gzip, gzip"])
def test_other_content_encodings_are_refused(site: ModelServer, encoding: str):
    site.says("/page", PAGE, headers={"content-encoding": encoding})
    refused(ProviderError, web(site), at(site))


def test_broken_gzip_is_told(site: ModelServer):
    site.says("/page", PAGE, headers={"content-encoding": "gzip"})
    assert "damaged gzip" in str(refused(ProviderError, web(site), at(site)))


@pytest.mark.parametrize(
    ("status", "kind"), [(404, ProviderRefused), (401, ProviderRefused), (500, ProviderBusy), (429, ProviderBusy)]
)
def test_what_a_server_refuses_is_told(site: ModelServer, status: int, kind: type[PinciteError]):
    site.says("/page", status=status)
    error = refused(kind, web(site), at(site, "/page?key=secret") if status == 401 else at(site))
    assert "secret" not in str(error)
    assert str(status) in str(error) or "404" in str(error)


@pytest.mark.slow
def test_a_server_that_hangs_is_left_in_time(site: ModelServer):
    site.says("/page", b"<p>", hangs=True)
    assert "web.timeout_s" in str(refused(ProviderBusy, web(site, timeout_s=0.5), at(site)))


def test_a_connection_that_breaks_is_told(site: ModelServer):
    site.says("/page", b"<p>", cut=True)
    refused(ProviderBusy, web(site), at(site))


def test_a_host_is_tried_at_each_of_its_addresses(site: ModelServer):
    assert get(web(site, leading_to("127.0.0.2", "127.0.0.1")), at(site)).data == PAGE


def test_a_host_that_is_not_there_is_told(site: ModelServer):
    assert "there is no host" in str(refused(ProviderRefused, web(site, leading_to()), at(site)))
    assert "cannot be reached" in str(
        refused(ProviderBusy, web(None, allow_hosts=("site.example:9",)), "http://site.example:9/")
    )


def test_names_are_really_looked_up(site: ModelServer):
    allowed = (f"localhost:{port_of(site)}",)
    settings = load_settings({"web.enabled": True, "web.delay_s": 0, "web.allow_hosts": allowed}, env={})
    assert asyncio.run(Web(lambda: settings.web).get(f"http://localhost:{port_of(site)}/page")).data == PAGE


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Key and certificate of `site.example`, signed by itself."""
    if not shutil.which("openssl"):
        pytest.skip("there is no openssl to make a certificate with")
    pem = tmp_path_factory.mktemp("certificate") / "site.pem"
    made = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=site.example"
    command = [
        "openssl",
        *made.split(),
        "-addext",
        "subjectAltName=DNS:site.example",
        "-keyout",
        pem,
        "-out",
        f"{pem}.crt",
    ]
    subprocess.run(command, check=True, capture_output=True)
    pem.write_bytes(pem.read_bytes() + Path(f"{pem}.crt").read_bytes())
    return pem


@pytest.fixture
def secure(certificate: Path) -> Iterator[int]:
    """The port of a site that speaks TLS; it knows one page, which is anything."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"" if self.path == "/robots.txt" else PAGE)

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def test_a_certificate_is_checked_against_the_name_whatever_machine_is_called(
    secure: int, certificate: Path, monkeypatch: pytest.MonkeyPatch
):
    client = web(None, allow_hosts=(f"site.example:{secure}", f"other.example:{secure}"))
    refused(ProviderBusy, client, f"https://site.example:{secure}/page")  # nobody vouches for it
    vouching = ssl.create_default_context(cafile=f"{certificate}.crt")
    monkeypatch.setattr("pincite.outbound.fetch.ssl_context", lambda _: vouching)
    assert get(client, f"https://site.example:{secure}/page").data == PAGE
    refused(ProviderBusy, client, f"https://other.example:{secure}/page")
