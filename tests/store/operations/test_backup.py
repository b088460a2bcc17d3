"""Backup and restore: everything is restored in another database, and a damaged file changes nothing."""

import asyncio
import tarfile
from pathlib import Path
from typing import Any

import psycopg
import psycopg.conninfo
import pytest

from pincite.core.accounts.access import LOCAL
from pincite.core.documents.document import Progress
from pincite.core.query.question import Question
from pincite.engine.app import AsyncPincite
from pincite.errors import Conflict, DataFolderError, Invalid, NotAllowed
from pincite.store import migrate as schema_module
from pincite.store.migrate import migration_files
from pincite.store.operations import backup as backup_module
from pincite.store.operations import restore as restore_module
from pincite.store.operations.backup import back_up, last_backup
from pincite.store.operations.backup_file import Writer
from pincite.store.operations.integrity import inspect
from pincite.store.operations.restore import read_backup, restore


def silent(_progress: Progress) -> None:
    pass


def settings_for(url: str, data: Path) -> dict[str, Any]:
    return {"data": data, "database.url": url, "embedding.provider": "scripted", "ingest.workers": 1}


async def fill(pincite: AsyncPincite, folder: Path) -> str:
    """Add documents, one with two versions, a session, a key and a changed setting; return the session's id."""
    for name, text in (
        ("cat.md", "# Cat\n\nThe cat is fed at half past six."),
        ("key.md", "# Key\n\nThe key hangs behind the blue cup."),
        ("key.md", "# Key\n\nThe key hangs behind the red cup."),
        ("kö.txt", "Diesel is ordered when the tank is low. 🐈"),
    ):
        (folder / name).write_text(text, encoding="utf-8")
        await pincite.add(folder / name, folder="hut")
    session = await pincite.services.sessions.create(await pincite.scope(), "")
    await pincite.ask(Question("Where does the key hang?", session_id=session.id))
    await pincite.services.keys.create("local", "reader of the hut", "reader", None)
    await pincite.services.live_settings.set({"rag.top_k": 7}, LOCAL)
    return session.id


def indexes_of(url: str) -> list[Any]:
    with psycopg.connect(url) as connection:
        return connection.execute("select indexdef from pg_indexes where schemaname = 'pincite' order by 1").fetchall()


def rows_of(url: str) -> dict[str, list[Any]]:
    """Return every row of every table as text, without columns of place and time."""
    with psycopg.connect(url) as connection:
        tables = connection.execute(
            "select tablename from pg_tables where schemaname = 'pincite' order by 1"
        ).fetchall()
        return {
            table: connection.execute(
                f"select to_jsonb(t) - 'place' - 'applied_at' from pincite.{table} t order by 1"
            ).fetchall()
            for (table,) in tables
            if table != "backup"
        }


def test_a_backup_is_restored_elsewhere_with_the_same_ids(
    database_url: str, another_database_url: str, tmp_path: Path
) -> None:
    target = tmp_path / "library.backup"

    async def use() -> None:
        async with AsyncPincite(settings=settings_for(database_url, tmp_path / "here")) as pincite:
            session = await fill(pincite, tmp_path)
            before = await pincite.ask("When is the cat fed?")
            done = await back_up(
                pincite.services.database, pincite.services.blobs.files, target, traces=True, report=silent
            )
            assert (done.documents, done.missing, done.bytes) == (3, (), target.stat().st_size)
            assert await last_backup(pincite.services.database) is not None
        manifest = read_backup(target, silent)
        assert (
            await restore(another_database_url, tmp_path / "there", target, manifest, silent)
        ).manifest.documents == 3
        made = [row for row in indexes_of(another_database_url) if "vector_near_" not in row[0]]
        assert made == indexes_of(database_url)  # a library this small has no vector index until it is restored
        kept, restored = rows_of(database_url), rows_of(another_database_url)
        kept["trace"], kept["span"] = restored["trace"], restored["span"]  # one was asked since
        *before_it, backed_up = kept.pop("audit_event")
        *chain, last = restored.pop("audit_event")
        assert (chain, backed_up[0]["event"], last[0]["event"]) == (before_it, "library.backup", "library.restore")
        del kept["audit_head"], restored["audit_head"]
        assert (len(kept.pop("cached_answer")), restored.pop("cached_answer")) == (2, [])  # these are made again
        assert (len(kept.pop("query_vector")), restored.pop("query_vector")) == (2, [])
        assert {name: len(lines) for name, lines in restored.items()} == {n: len(lines) for n, lines in kept.items()}
        [(now,)], [(before_it,)] = restored.pop("corpus"), kept.pop("corpus")
        assert now["revision"] > before_it["revision"]  # an open process must not take it for the empty library
        assert restored == kept
        async with AsyncPincite(settings=settings_for(another_database_url, tmp_path / "there")) as pincite:
            assert (await inspect(pincite.services.database, pincite.services.blobs.files, silent)).wrong == ()
            assert (await pincite.services.audit.verify("local")).fault is None
            after = await pincite.ask("When is the cat fed?")
            assert (after.text, after.citations) == (before.text, before.citations)
            assert pincite.settings.rag.top_k == 7
            assert (await pincite.services.sessions.get(await pincite.scope(), session)).turns
            (tmp_path / "new.md").write_text("The well is behind the hut.")
            new = await pincite.add(tmp_path / "new.md")  # sequences continue
            assert new.chunks == 1

    asyncio.run(use())


@pytest.mark.slow
def test_files_of_an_embedded_database_are_backed_up(tmp_path: Path) -> None:
    from pincite.config.sources import load_settings
    from pincite.store.operations.open_bare import address, library

    target = tmp_path / "library.backup"
    here, there = (
        {"data": tmp_path / name, "embedding.provider": "scripted", "database.shared_buffers_mb": 16}
        for name in ("here", "there")
    )

    async def use() -> None:
        async with AsyncPincite(settings=here) as pincite:
            (tmp_path / "cat.md").write_text("The cat is fed at half past six.")
            document = await pincite.add(tmp_path / "cat.md")
            [version] = await pincite.services.library.versions(await pincite.scope(), document.id)
            gone = pincite.services.blobs.files.path(document.id, version.id)
        async with library(load_settings(here)) as (database, files):
            assert (await back_up(database, files, target, traces=False, report=silent)).files == 1
            gone.write_text("The cat is fed at half past seven.")
            assert [line.rpartition(": ")[2] for line in (await inspect(database, files, silent)).wrong] == [
                "its file differs from the uploaded one"
            ]
            gone.unlink()
            assert "its file is missing" in (await inspect(database, files, silent)).wrong[0]
        manifest = read_backup(target, silent)
        assert "trace" not in {table.name for table in manifest.tables}
        async with address(load_settings(there)) as url:
            assert (await restore(url, tmp_path / "there", target, manifest, silent)).files == 1
        async with library(load_settings(there)) as (database, files):
            found = await inspect(database, files, silent)
            assert (found.wrong, found.documents, found.files, found.searched, found.stray) == ((), 1, 1, 1, 0)

    asyncio.run(use())


def test_a_document_removed_while_files_are_copied_is_not_in_the_backup(
    with_store: Any, database_url: str, another_database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, add_file = tmp_path / "library.backup", Writer.add_file

    async def test(store: Any) -> None:
        kept, gone = [await store.put(name, f"text of {name}") for name in ("kept.md", "gone.md")]

        def meanwhile(writer: Writer, name: str, path: Path) -> None:
            add_file(writer, name, path)
            with psycopg.connect(database_url) as other:
                for (version,) in other.execute("select id from pincite.version where document_id = %s", (gone,)):
                    store.files.remove(gone, version)
                other.execute("delete from pincite.document where id = %s", (gone,))

        monkeypatch.setattr(Writer, "add_file", meanwhile)
        done = await back_up(store.database, store.files, target, traces=True, report=silent)
        assert (done.documents, done.files, done.missing) == (1, 1, ())
        await restore(another_database_url, tmp_path / "there", target, read_backup(target, silent), silent)
        with psycopg.connect(another_database_url) as connection:
            assert connection.execute("select id from pincite.document").fetchall() == [(kept,)]

    with_store(test)


def test_a_missing_file_is_listed_in_the_backup(with_store: Any, tmp_path: Path) -> None:
    async def test(store: Any) -> None:
        document_id = await store.put("a.md", "text")
        [version] = await store.library.versions(await store.scope(), document_id)
        store.files.path(document_id, version.id).unlink()
        done = await back_up(store.database, store.files, tmp_path / "b", traces=True, report=silent)
        assert (done.files, done.missing) == (0, (f"{document_id}/{version.id}",))

    with_store(test)


def test_a_restore_refuses_a_library_with_content(with_store: Any, database_url: str, tmp_path: Path) -> None:
    async def test(store: Any) -> None:
        await store.put("a.md", "text")
        await back_up(store.database, store.files, tmp_path / "b", traces=True, report=silent)
        before = rows_of(database_url)
        with pytest.raises(Conflict, match="the library is not empty"):
            await restore(database_url, tmp_path, tmp_path / "b", read_backup(tmp_path / "b", silent), silent)
        assert rows_of(database_url) == before

    with_store(test)


def test_a_restore_replaces_an_unused_library(with_store: Any, another_database_url: str, tmp_path: Path) -> None:
    async def test(store: Any) -> None:
        await store.put("a.md", "text")
        await back_up(store.database, store.files, tmp_path / "b", traces=True, report=silent)
        async with AsyncPincite(settings=settings_for(another_database_url, tmp_path / "there")):
            pass
        manifest = read_backup(tmp_path / "b", silent)
        await restore(another_database_url, tmp_path / "there", tmp_path / "b", manifest, silent)
        with psycopg.connect(another_database_url) as connection:
            assert connection.execute("select name from pincite.document").fetchall() == [("a.md",)]

    with_store(test)


def test_a_restore_that_fails_leaves_an_empty_library_and_can_be_done_again(
    with_store: Any, another_database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(store: Any) -> None:
        await store.put("a.md", "text")
        await back_up(store.database, store.files, tmp_path / "b", traces=True, report=silent)
        manifest, there = read_backup(tmp_path / "b", silent), tmp_path / "there"

        async def fail(*_: Any) -> None:
            raise OSError("the power went")

        with monkeypatch.context() as patch:
            patch.setattr(restore_module, "index_vectors", fail)
            with pytest.raises(OSError, match="the power went"):
                await restore(another_database_url, there, tmp_path / "b", manifest, silent)
        assert not [path for path in there.rglob("*") if path.is_file()]
        assert (await restore(another_database_url, there, tmp_path / "b", manifest, silent)).files == 1

    with_store(test)


def test_a_backup_never_replaces_a_file_and_is_complete_or_absent(
    with_store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    (folder / "a").write_text("mine")

    async def test(store: Any) -> None:
        await store.put("a.md", "text")
        with pytest.raises(Invalid, match="exists already"):
            await back_up(store.database, store.files, folder / "a", traces=True, report=silent)

        async def fail(*_: Any) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(backup_module, "_manifest", fail)
        with pytest.raises(DataFolderError, match="No space left"):
            await back_up(store.database, store.files, folder / "b", traces=True, report=silent)

    with_store(test)
    assert [path.name for path in folder.iterdir()] == ["a"]
    assert (folder / "a").read_text() == "mine"


def test_a_large_table_is_copied_in_parts(
    with_store: Any, another_database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup_module, "PART_BYTES", 100)

    async def test(store: Any) -> None:
        await store.put("a.md", *(f"passage {n} of many" for n in range(50)))
        await back_up(store.database, store.files, tmp_path / "b", traces=True, report=silent)
        with tarfile.open(tmp_path / "b") as tar:
            assert sum(name.startswith("tables/posting/") for name in tar.getnames()) > 10
        await restore(
            another_database_url, tmp_path / "there", tmp_path / "b", read_backup(tmp_path / "b", silent), silent
        )
        with psycopg.connect(another_database_url) as connection:
            assert connection.execute("select count(*) from pincite.chunk where level = 2").fetchone() == (50,)

    with_store(test)


def test_a_backup_of_an_earlier_schema_is_migrated(
    with_store: Any, another_database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = (9999, "9999_later.sql", "alter table document add column later text not null default 'yes'")

    async def test(store: Any) -> None:
        await store.put("a.md", "text")
        await back_up(store.database, store.files, tmp_path / "b", traces=True, report=silent)
        known = [*migration_files(), later]
        monkeypatch.setattr(schema_module, "migration_files", lambda: known)
        manifest = read_backup(tmp_path / "b", silent)
        await restore(another_database_url, tmp_path / "there", tmp_path / "b", manifest, silent)
        with psycopg.connect(another_database_url) as connection:
            assert connection.execute("select name, later from pincite.document").fetchall() == [("a.md", "yes")]

    with_store(test)


def test_a_database_user_without_access_to_all_rows_is_refused(
    with_store: Any, database_url: str, tmp_path: Path
) -> None:
    async def test(store: Any) -> None:
        await store.put("a.md", "text")
        name = psycopg.conninfo.conninfo_to_dict(database_url)["dbname"]
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute(f"create role reader_{name} login password 'x'")
            connection.execute(f"grant usage on schema pincite to reader_{name}")
            connection.execute(f"grant select on all tables in schema pincite to reader_{name}")
            try:
                reader = psycopg.conninfo.make_conninfo(database_url, user=f"reader_{name}", password="x")
                store.database._direct_url = reader
                with pytest.raises(NotAllowed, match="grant it BYPASSRLS"):
                    await back_up(store.database, store.files, tmp_path / "b", traces=True, report=silent)
            finally:
                connection.execute(f"drop owned by reader_{name}")
                connection.execute(f"drop role reader_{name}")
        assert not (tmp_path / "b").exists()

    with_store(test)
