"""A folder of an IMAP mailbox; each message becomes an email document."""

import asyncio
import imaplib
import re
import ssl
from collections.abc import Sequence
from email import message_from_bytes, policy
from urllib.parse import unquote, urlsplit

from pincite.core.documents.sources import SourceAddress, SourceItem
from pincite.errors import Invalid, NotFound, ProviderBusy, ProviderRefused, TooLarge

OPTIONS = frozenset({"user"})
_UNSAFE = re.compile(r"[^\w .,()@+-]+")
_MAX_SUBJECT_CHARS = 80
_BATCH = 200
_HEADER = re.compile(rb"UID (\d+)")
_SIZE = re.compile(rb"RFC822\.SIZE (\d+)")


class Source:
    """Lists and reads the messages of a mailbox; `url` is `imaps://host/INBOX` or `imap://host/INBOX`."""

    lists_all = True

    def __init__(self, address: SourceAddress) -> None:
        parts = urlsplit(address.url)
        if parts.scheme not in ("imap", "imaps") or not parts.hostname:
            raise Invalid("the URL must be imaps://host/MAILBOX", code="bad_address")
        if parts.username or parts.password:
            raise Invalid("write no credentials into the URL; give user and secret_env instead", code="bad_address")
        if not address.options.get("user"):
            raise Invalid("an IMAP source needs the option user")
        self._address, self._parts = address, parts
        self._mailbox = unquote(parts.path.strip("/")) or "INBOX"
        self._connection: imaplib.IMAP4 | None = None
        self._validity = ""

    async def items(self) -> Sequence[SourceItem]:
        """All messages of the mailbox; a message never changes, so its UID is its stamp."""
        return await asyncio.to_thread(self._list)

    async def read(self, item: SourceItem) -> bytes:
        """The message as it was received."""
        return await asyncio.to_thread(self._fetch, item.key.rpartition("/")[2])

    async def close(self) -> None:
        """Log out."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            await asyncio.to_thread(_log_out, connection)

    def _list(self) -> list[SourceItem]:
        connection = self._open()
        uids = _text(self._call(connection, "SEARCH", "UNDELETED")).split()
        if len(uids) > self._address.max_items:
            raise Invalid(f"the mailbox has more than {self._address.max_items:,} messages; choose another folder")
        found: list[SourceItem] = []
        for start in range(0, len(uids), _BATCH):
            part = ",".join(uids[start : start + _BATCH])
            rows = self._call(connection, "FETCH", part, "(RFC822.SIZE BODY.PEEK[HEADER.FIELDS (SUBJECT DATE)])")
            found += [self._item(row[0], row[1]) for row in rows if isinstance(row, tuple)]
        return found

    def _item(self, head: bytes, header: bytes) -> SourceItem:
        match, size = _HEADER.search(head), _SIZE.search(head)
        uid = match[1].decode() if match else ""
        message = message_from_bytes(header, policy=policy.default)
        subject = " ".join(_UNSAFE.sub(" ", str(message["subject"] or "")).split())[:_MAX_SUBJECT_CHARS].strip(" .")
        key = f"{self._validity}/{uid}"
        return SourceItem(key, f"{key} {size[1].decode() if size else ''}", f"{uid} {subject or 'no subject'}.eml")

    def _fetch(self, uid: str) -> bytes:
        for row in self._call(self._open(), "FETCH", uid, "(RFC822.SIZE BODY.PEEK[])"):
            if isinstance(row, tuple):
                if len(row[1]) > self._address.max_bytes:
                    raise TooLarge(f"message {uid} is larger than {self._address.max_bytes // 1024 // 1024} MB")
                return bytes(row[1])
        raise NotFound(f"message {uid} is no longer in the mailbox")

    def _open(self) -> imaplib.IMAP4:
        """The connection, logged in, with the mailbox selected for reading only."""
        if self._connection is not None:
            return self._connection
        host, timeout = self._parts.hostname or "", self._address.timeout_s
        try:
            if self._parts.scheme == "imaps":
                connection: imaplib.IMAP4 = imaplib.IMAP4_SSL(
                    host, self._parts.port or 993, ssl_context=ssl.create_default_context(), timeout=timeout
                )
            else:
                connection = imaplib.IMAP4(host, self._parts.port or 143, timeout=timeout)
        except (OSError, imaplib.IMAP4.error) as error:
            raise ProviderBusy(f"{host} cannot be reached ({type(error).__name__})") from error
        try:
            connection.login(self._address.options["user"], self._address.secret)
        except imaplib.IMAP4.error:
            raise ProviderRefused(f"{host} rejected the credentials; check user and secret_env") from None
        if connection.select(f'"{self._mailbox}"', readonly=True)[0] != "OK":
            raise NotFound(f"there is no mailbox '{self._mailbox}' on {host}")
        self._validity = _text(connection.response("UIDVALIDITY")[1])
        self._connection = connection
        return connection

    def _call(self, connection: imaplib.IMAP4, *command: str) -> list[bytes | tuple[bytes, bytes]]:
        try:
            state, rows = connection.uid(*command)
        except (OSError, imaplib.IMAP4.error) as error:
            self._connection = None
            raise ProviderBusy(f"{self._parts.hostname} closed the connection ({type(error).__name__})") from error
        if state != "OK":
            raise ProviderRefused(f"{self._parts.hostname} refused {command[0]}")
        return [row for row in rows if row]


def _text(rows: Sequence[object]) -> str:
    return b" ".join(row for row in rows if isinstance(row, bytes)).decode("ascii", "replace")


def _log_out(connection: imaplib.IMAP4) -> None:
    try:
        connection.logout()
    except (OSError, imaplib.IMAP4.error):
        return
