"""WebDAV folders as sources."""

import asyncio
from pathlib import Path

import pytest

from pincite.core.documents.sources import SourceAddress, SourceItem
from pincite.errors import Invalid, NotFound, ProviderBusy, ProviderRefused
from pincite.outbound.sources.webdav import Source
from tests.remote_servers import PASSWORD, USER, webdav_server


def listed(url: str, secret: str = PASSWORD, max_items: int = 100) -> list[SourceItem]:
    async def go() -> list[SourceItem]:
        source = Source(SourceAddress(url, {"user": USER}, secret, max_items=max_items))
        try:
            return list(await source.items())
        finally:
            await source.close()

    return asyncio.run(go())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "sub folder" / "deep").mkdir(parents=True)
    (tmp_path / "a.md").write_text("# A")
    (tmp_path / "sub folder" / "b & c.md").write_text("# B")
    (tmp_path / "sub folder" / "deep" / "ü.txt").write_text("u")
    return tmp_path


def test_all_files_below_the_folder_are_listed_with_their_folders(root: Path) -> None:
    with webdav_server(root) as url:
        before = listed(url)
        (root / "a.md").write_text("# Another A")
        after = listed(url)
    places = [(item.folder, item.name) for item in before]
    assert places == [("", "a.md"), ("sub folder", "b & c.md"), ("sub folder/deep", "ü.txt")]
    assert [one.stamp == other.stamp for one, other in zip(before, after, strict=True)] == [False, True, True]
    assert before[1].uri == f"{url}sub%20folder/b%20&%20c.md"


def test_a_file_is_read_and_a_missing_one_is_told(root: Path) -> None:
    async def go(url: str) -> None:
        source = Source(SourceAddress(url, {"user": USER}, PASSWORD))
        items = {item.name: item for item in await source.items()}
        assert await source.read(items["ü.txt"]) == b"u"
        (root / "a.md").unlink()
        with pytest.raises(NotFound):
            await source.read(items["a.md"])
        await source.close()

    with webdav_server(root) as url:
        asyncio.run(go(url))


def test_errors_say_what_to_do_and_never_the_password(root: Path) -> None:
    with webdav_server(root) as url:
        with pytest.raises(ProviderRefused, match="rejected the credentials") as refused:
            listed(url, secret="wrong secret")
        with pytest.raises(Invalid, match="more than 2 files"):
            listed(url, max_items=2)
    assert "wrong secret" not in str(refused.value)
    with pytest.raises(ProviderBusy, match="cannot be reached"):
        listed(url)
    with pytest.raises(Invalid, match="http:// or https://"):
        Source(SourceAddress("ftp://x/", {}))
    with pytest.raises(Invalid, match="no credentials"):
        Source(SourceAddress("https://anna:pw@x/", {}))
    assert "correct horse" not in repr(SourceAddress(url, {}, PASSWORD))
