"""Servers of remote sources for tests, on free ports of this machine: WebDAV over a folder, an S3 bucket, IMAP."""

import hashlib
import re
import socketserver
import threading
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote, urlsplit
from xml.sax.saxutils import escape

USER, PASSWORD = "anna", "correct horse"


class _Quiet(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        return

    def reply(self, status: int, body: bytes, kind: str = "application/xml") -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def read_body(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))


@contextmanager
def _served(handler: type[_Quiet]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def webdav_server(root: Path) -> Iterator[str]:
    """Serve a folder below `/dav/` with basic authentication; yields the folder's URL."""

    class Handler(_Quiet):
        def do_PROPFIND(self) -> None:
            self.read_body()
            self._guarded(self._list)

        def do_GET(self) -> None:
            self._guarded(self._read)

        def _guarded(self, answer: Callable[[Path], None]) -> None:
            given = b64decode(self.headers.get("authorization", "").removeprefix("Basic ")).decode()
            path = root / unquote(urlsplit(self.path).path).removeprefix("/dav/").strip("/")
            if given != f"{USER}:{PASSWORD}":
                self.reply(401, b"")
            elif not path.exists():
                self.reply(404, b"")
            else:
                answer(path)

        def _read(self, path: Path) -> None:
            self.reply(200, path.read_bytes(), "application/octet-stream")

        def _list(self, path: Path) -> None:
            assert self.headers["depth"] == "1"
            entries = "".join(_dav_entry(root, one) for one in [path, *sorted(path.iterdir())])
            self.reply(207, f'<d:multistatus xmlns:d="DAV:">{entries}</d:multistatus>'.encode())

    with _served(Handler) as url:
        yield f"{url}/dav/"


def _dav_entry(root: Path, path: Path) -> str:
    below = quote(str(path.relative_to(root)).removeprefix("."))
    if path.is_dir():
        kind, href = "<d:collection/>", f"/dav/{below}/".replace("//", "/")
    else:
        kind, href = "", f"/dav/{below}"
    state = path.stat()
    return (
        f"<d:response><d:href>{escape(href)}</d:href><d:propstat><d:prop><d:resourcetype>{kind}</d:resourcetype>"
        f"<d:getetag>&quot;{state.st_mtime_ns}-{state.st_size}&quot;</d:getetag>"
        f"<d:getlastmodified>{formatdate(state.st_mtime, usegmt=True)}</d:getlastmodified>"
        "</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"
    )


@contextmanager
def s3_server(objects: dict[str, bytes], page: int = 2) -> Iterator[str]:
    """Serve a bucket, `page` keys per listing; requests must be signed for the key `AKTEST`. Yields its URL."""

    class Handler(_Quiet):
        def do_GET(self) -> None:
            if not self.headers.get("authorization", "").startswith("AWS4-HMAC-SHA256 Credential=AKTEST/"):
                return self.reply(403, b"<Error/>")
            parts = urlsplit(self.path)
            key = unquote(parts.path).removeprefix("/bucket").lstrip("/")
            if not key:
                return self.reply(200, _listing({k: v[0] for k, v in parse_qs(parts.query).items()}))
            return self.reply(200, objects[key]) if key in objects else self.reply(404, b"<Error/>")

    def _listing(query: dict[str, str]) -> bytes:
        keys = sorted(key for key in objects if key.startswith(query.get("prefix", "")))
        start = int(query.get("continuation-token", "0"))
        rows = "".join(
            f"<Contents><Key>{escape(key)}</Key><ETag>&quot;{hashlib.md5(objects[key]).hexdigest()}&quot;</ETag>"
            f"<Size>{len(objects[key])}</Size></Contents>"
            for key in keys[start : start + page]
        )
        more = f"<NextContinuationToken>{start + page}</NextContinuationToken>" if start + page < len(keys) else ""
        space = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
        return f"<ListBucketResult {space}>{rows}{more}</ListBucketResult>".encode()

    with _served(Handler) as url:
        yield f"{url}/bucket"


@contextmanager
def imap_server(messages: dict[int, bytes]) -> Iterator[str]:
    """Serve the mailbox INBOX with messages by UID; yields its URL."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.say(b"* OK ready")
            while line := self.rfile.readline():
                tag, _, command = line.strip().partition(b" ")
                if not self.answer(tag, command):
                    return

        def say(self, line: bytes) -> None:
            self.wfile.write(line + b"\r\n")

        def answer(self, tag: bytes, command: bytes) -> bool:
            verb = command.upper()
            if verb.startswith(b"CAPABILITY"):
                self.say(b"* CAPABILITY IMAP4rev1")
            elif verb.startswith(b"LOGIN"):
                if command != f'LOGIN {USER} "{PASSWORD}"'.encode():
                    self.say(tag + b" NO wrong password")
                    return True
            elif verb.startswith(b"EXAMINE"):
                if b"INBOX" not in command:
                    self.say(tag + b" NO no such mailbox")
                    return True
                self.say(b"* %d EXISTS" % len(messages))
                self.say(b"* OK [UIDVALIDITY 7] valid")
            elif verb.startswith(b"UID SEARCH"):
                self.say(b"* SEARCH " + b" ".join(b"%d" % uid for uid in messages))
            elif verb.startswith(b"UID FETCH"):
                self.fetch(command)
            self.say(tag + b" OK done")
            return not verb.startswith(b"LOGOUT")

        def fetch(self, command: bytes) -> None:
            asked = re.match(rb"UID FETCH ([\d,]+) \(", command, re.IGNORECASE)
            assert asked is not None
            for number, uid in enumerate(int(one) for one in asked[1].split(b",") if int(one) in messages):
                whole = messages[uid]
                part = whole.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" if b"HEADER" in command else whole
                item = b"BODY[HEADER.FIELDS (SUBJECT DATE)]" if b"HEADER" in command else b"BODY[]"
                self.say(b"* %d FETCH (UID %d RFC822.SIZE %d %s {%d}" % (number + 1, uid, len(whole), item, len(part)))
                self.wfile.write(part + b")\r\n")

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = True
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"imap://127.0.0.1:{server.server_address[1]}/INBOX"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
