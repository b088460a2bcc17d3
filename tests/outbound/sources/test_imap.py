"""Mailboxes as sources."""

import asyncio

import pytest

from pincite.core.documents.sources import SourceAddress
from pincite.errors import Invalid, NotFound, ProviderRefused
from pincite.outbound.sources.imap import Source
from tests.remote_servers import PASSWORD, USER, imap_server


def mail(subject: str, text: str) -> bytes:
    head = f"From: a@example.org\r\nTo: b@example.org\r\nSubject: {subject}\r\nDate: Mon, 4 Mar 2024 10:00:00 +0000"
    return f"{head}\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{text}\r\n".encode()


def test_messages_are_listed_by_uid_and_read_whole() -> None:
    messages = {
        3: mail("Key / handover: room 7", "The key is at the desk."),
        9: mail("=?utf-8?q?Gr=C3=BC=C3=9Fe?=", "x"),
    }

    async def go(url: str) -> None:
        source = Source(SourceAddress(url, {"user": USER}, PASSWORD))
        items = list(await source.items())
        assert [item.name for item in items] == ["3 Key handover room 7.eml", "9 Grüße.eml"]
        assert [item.key for item in items] == ["7/3", "7/9"]
        assert await source.read(items[0]) == messages[3]
        del messages[9]
        assert [item.key for item in await source.items()] == ["7/3"]
        with pytest.raises(NotFound):
            await source.read(items[1])
        await source.close()

    with imap_server(messages) as url:
        asyncio.run(go(url))


def test_a_wrong_password_a_missing_mailbox_and_a_wrong_url_are_told() -> None:
    async def list_items(url: str, secret: str) -> None:
        source = Source(SourceAddress(url, {"user": USER}, secret))
        try:
            await source.items()
        finally:
            await source.close()

    with imap_server({}) as url:
        with pytest.raises(ProviderRefused, match="rejected the credentials") as refused:
            asyncio.run(list_items(url, "nonsense"))
        with pytest.raises(NotFound, match="no mailbox 'Archive'"):
            asyncio.run(list_items(url.replace("INBOX", "Archive"), PASSWORD))
    assert "nonsense" not in str(refused.value)
    with pytest.raises(Invalid, match="imaps://host/MAILBOX"):
        Source(SourceAddress("https://x", {"user": USER}))
    with pytest.raises(Invalid, match="option user"):
        Source(SourceAddress("imaps://x", {}))
