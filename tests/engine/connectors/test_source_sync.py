"""Synchronising documents with remote sources."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pincite.core.accounts.access import Caller
from pincite.core.documents.sources import NewSource, SourceResult
from pincite.engine.connectors.source_sync import Sources, SourceScheduler, read_secret
from pincite.errors import Conflict, Invalid, NotAllowed, NotFound, ProviderBusy, ProviderRefused
from pincite.store.documents.sources import SourceStore
from tests.remote_servers import PASSWORD, USER, imap_server, webdav_server

Open = Callable[..., Any]
SECRET = "PINCITE_SECRET_CLOUD"


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET, PASSWORD)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "cloud"
    (folder / "hr").mkdir(parents=True)
    (folder / "hr" / "leave.md").write_text("# Leave\n\nFive vacation days carry over.\n")
    (folder / "door.txt").write_text("The door code is 4711.\n")
    (folder / "picture.xyz").write_text("no document")
    return folder


def cloud(url: str, **more: Any) -> NewSource:
    return replace(NewSource("cloud", "webdav", url, "cloud", {"user": USER}, SECRET), **more)


async def paths(pincite: Any) -> list[str]:
    return sorted(document.path for document in await pincite.documents.all())


def test_files_are_added_updated_and_removed_like_in_the_source(open_pincite: Open, root: Path) -> None:
    async def go(url: str) -> None:
        async with open_pincite() as pincite:
            sources = Sources(pincite)
            assert (await sources.add(cloud(url))).state == "new"
            assert await sources.sync("cloud") == SourceResult(added=2)
            assert await paths(pincite) == ["cloud/door.txt", "cloud/hr/leave.md"]
            assert await sources.sync("cloud") == SourceResult(unchanged=2)
            (root / "door.txt").write_text("The door code is 4712 now.\n")
            (root / "hr" / "leave.md").unlink()
            assert await sources.sync("cloud") == SourceResult(updated=1, removed=1)
            assert await paths(pincite) == ["cloud/door.txt"]
            answer = await pincite.ask("What is the door code?")
            assert "4712" in answer.text
            [told] = await sources.all()
            assert (told.state, told.error, told.documents) == ("ok", None, 1)

    with webdav_server(root) as url:
        asyncio.run(go(url))


def test_a_document_that_its_user_removed_comes_back_only_when_its_file_changes(open_pincite: Open, root: Path) -> None:
    async def go(url: str) -> None:
        async with open_pincite() as pincite:
            sources = Sources(pincite)
            await sources.add(cloud(url))
            await sources.sync("cloud")
            [door] = [one for one in await pincite.documents.all() if one.name == "door.txt"]
            await pincite.remove(door.id)
            assert (await sources.sync("cloud")).added == 0
            (root / "door.txt").write_text("Another door code is 1.\n")
            assert (await sources.sync("cloud")).added == 1

    with webdav_server(root) as url:
        asyncio.run(go(url))


def test_a_failure_keeps_the_documents_and_is_told_without_credentials(
    open_pincite: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go(url: str) -> None:
        async with open_pincite() as pincite:
            sources = Sources(pincite)
            await sources.add(cloud(url))
            await sources.sync("cloud")
            monkeypatch.setenv(SECRET, "wrong words")
            with pytest.raises(ProviderRefused):
                await sources.sync("cloud")
            [told] = await sources.all()
            assert (told.state, "rejected the credentials" in (told.error or "")) == ("failed", True)
            assert "wrong words" not in (told.error or "")
            assert len(await paths(pincite)) == 2
            monkeypatch.setenv(SECRET, PASSWORD)
            for file in root.rglob("*.*"):
                file.unlink()
            with pytest.raises(Invalid, match="lists no files"):
                await sources.sync("cloud")
            assert len(await paths(pincite)) == 2

    with webdav_server(root) as url:
        asyncio.run(go(url))


def test_a_mailbox_becomes_email_documents(open_pincite: Open) -> None:
    mail = b"From: a@x.org\r\nSubject: Key\r\nContent-Type: text/plain\r\n\r\nThe key hangs behind the blue cup.\r\n"

    async def go(url: str) -> None:
        async with open_pincite() as pincite:
            sources = Sources(pincite)
            await sources.add(NewSource("post", "imap", url, "post", {"user": USER}, SECRET))
            assert (await sources.sync("post")).added == 1
            assert await paths(pincite) == ["post/5 Key.eml"]
            assert (await sources.sync("post")).unchanged == 1

    with imap_server({5: mail}) as url:
        asyncio.run(go(url))


def test_a_source_is_synchronised_by_one_process_at_a_time_and_by_the_server_when_due(
    open_pincite: Open, root: Path
) -> None:
    async def go(url: str) -> None:
        async with open_pincite() as pincite:
            sources, store = Sources(pincite), SourceStore(pincite.services.database)
            stored = await sources.add(cloud(url, every_minutes=5))
            assert await store.claim(await pincite.scope(), stored.id)
            with pytest.raises(Conflict, match="being synchronised"):
                await sources.sync("cloud")
            assert await SourceScheduler(pincite).sync_due() == 0
            await store.finish(await pincite.scope(), stored.id, "new", None)
            async with pincite.services.database.transaction("local") as connection:
                await connection.execute("update source set finished_at = now() - interval '1 hour'")
            assert await SourceScheduler(pincite).sync_due() == 1
            assert await paths(pincite) == ["cloud/door.txt", "cloud/hr/leave.md"]
            assert await SourceScheduler(pincite).sync_due() == 0

    with webdav_server(root) as url:
        asyncio.run(go(url))


def test_removing_a_source_keeps_its_documents_unless_asked_otherwise(open_pincite: Open, root: Path) -> None:
    async def go(url: str) -> None:
        async with open_pincite() as pincite:
            sources = Sources(pincite)
            await sources.add(cloud(url))
            await sources.sync("cloud")
            await sources.remove("cloud")
            assert len(await paths(pincite)) == 2
            await sources.add(cloud(url))
            await sources.sync("cloud")
            await sources.remove("cloud", documents=True)
            assert await paths(pincite) == []
            with pytest.raises(NotFound):
                await sources.get("cloud")

    with webdav_server(root) as url:
        asyncio.run(go(url))


def test_wrong_sources_are_refused_with_the_reason(open_pincite: Open) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            with pytest.raises(NotAllowed):
                Sources(pincite, Caller("anna", "editor"))
            sources = Sources(pincite)
            for wrong, words in (
                (cloud("https://x/", name=" "), "needs a name"),
                (cloud("https://x/", options={"password": "x"}), "no option 'password'; there are: user"),
                (cloud("https://x/", secret_env="PINCITE_DATABASE_URL"), "must begin with PINCITE_SECRET_"),
                (cloud("https://x/", secret_env="PINCITE_SECRET_NONE"), "is not set"),
                (cloud("ftp://x/"), "http:// or https://"),
            ):
                with pytest.raises(Invalid, match=words):
                    await sources.add(wrong)
            await sources.add(cloud("http://127.0.0.1:9/"))
            with pytest.raises(Conflict, match="choose another name"):
                await sources.add(cloud("http://127.0.0.1:9/"))
            with pytest.raises(ProviderBusy):
                await sources.sync("cloud")

    asyncio.run(go())


def test_only_variables_made_for_it_are_read() -> None:
    assert read_secret("") == ""
    assert read_secret(SECRET) == PASSWORD
    with pytest.raises(Invalid, match="must begin with"):
        read_secret("HOME")
