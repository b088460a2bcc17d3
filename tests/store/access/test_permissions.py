import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from psycopg.errors import InsufficientPrivilege

from pincite.core.accounts.access import Scope, ShareRequest
from pincite.core.documents.document import Access, DocumentChange, Listing, Upload
from pincite.core.query.question import Filters
from pincite.errors import Conflict, Invalid, NotFound
from pincite.store.access import permissions as module
from pincite.store.access.permissions import Permissions, assign_realms
from pincite.store.access.users import Users
from pincite.store.database import fetch_all
from pincite.store.documents.folders import Folders
from pincite.store.documents.rename import DocumentEditor
from pincite.store.local_settings import CACHE_PERMISSIONS
from pincite.store.operations.integrity import inspect
from pincite.store.search.packed_postings import PackedPostings
from pincite.store.search.vocabulary import PostgresVocabulary

ALL = Filters()


async def people(store: Any, *names: str, **groups: Sequence[str]) -> None:
    everybody = Users(store.database)
    for name in names:
        await everybody.add("local", name, "reader")
    for group, members in groups.items():
        await everybody.add_group("local", group)
        for member in members:
            await everybody.join("local", group, member)


async def found(store: Any, person: str, words: str) -> set[str]:
    """Return the documents that a person finds; lexical and dense search must agree."""
    scope = await store.library.scope(person)
    by_words = await store.index.lexical(words, scope=scope, filters=ALL, limit=50)
    by_meaning = await store.index.dense(await store.vector(words), scope=scope, filters=ALL, limit=50)
    read = await store.index.fetch([m.key for m in (*by_words, *by_meaning)], [], scope=scope)
    listed, _ = await store.library.documents(scope, Listing())
    assert {chunk.document_id for chunk in read.chunks.values()} <= {document.id for document in listed}
    return {read.chunks[match.key].document_id for match in by_words if match.key in read.chunks}


async def set_role(store: Any, person: str, role: str) -> None:
    async with store.database.administrator() as admin:
        await admin.execute("update pincite.person set role = %s where id = %s", (role, person))


async def share(store: Any, document_id: str, **wish: Any) -> None:
    rights, scope = Permissions(store.database), await store.scope()
    await rights.share(scope, document_id, await rights.readers(scope, ShareRequest(**wish)))


async def realm_mismatches(store: Any) -> list[Any]:
    """Return the rows in another realm than their document."""
    wrong: list[Any] = []
    async with store.database.administrator() as admin:
        for table in ("chunk", "vector", "posting", "past_posting", "past_vector"):
            query = (
                f"select t.* from pincite.{table} t join pincite.edition e on e.key = t.edition join pincite.document d"
            )
            query += " on d.id = e.document_id where t.realm <> d.realm or e.realm <> d.realm"
            wrong += await fetch_all(admin, query)  # type: ignore[arg-type]
    return wrong


@pytest.mark.parametrize(
    "wish", [{"users": ("bob",)}, {"groups": ("staff",)}, {"everyone": True}], ids=["user", "group", "everyone"]
)
def test_shared_documents_are_found_until_the_share_is_revoked(with_store: Any, wish: dict[str, Any]) -> None:
    async def test(store: Any) -> None:
        await people(store, "bob", "carol", staff=["bob"])
        shared = await store.put("a.md", "the heron stands in the reeds")
        kept = await store.put("b.md", "the heron flies over the lake")
        assert await found(store, "bob", "heron") == set()
        await share(store, shared, **wish)
        assert await found(store, "bob", "heron") == {shared}
        assert await found(store, "carol", "heron") == ({shared} if "everyone" in wish else set())
        assert await found(store, "local", "heron") == {shared, kept}
        assert await realm_mismatches(store) == []
        await share(store, shared)
        assert await found(store, "bob", "heron") == set()
        assert await found(store, "local", "heron") == {shared, kept}
        with pytest.raises(NotFound):
            await store.library.get(await store.library.scope("bob"), shared)

    with_store(test)


def test_statistics_and_vocabulary_cover_only_readable_documents(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await people(store, "bob")
        shared = await store.put("a.md", "otters swim", "otters sleep")
        bob = await store.library.scope("bob")
        await share(store, shared, users=("bob",))
        bob = await store.library.scope("bob")
        alone = await store.index.lexical("otters swim", scope=bob, filters=ALL, limit=10)
        for n in range(5):
            await store.put(f"h{n}.md", "otters hoard a secretword swim swim")
        again = await store.index.lexical("otters swim", scope=await store.library.scope("bob"), filters=ALL, limit=10)
        assert alone == again  # the same scores, though others own more of it
        words = PostgresVocabulary(store.database)
        assert await words.known_words(["secretword", "otters"], scope=bob) == {"otters"}
        assert await words.known_words(["secretword", "otters"], scope=await store.scope()) == {"secretword", "otters"}

    with_store(test)


def test_words_of_a_document_move_with_its_realm(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await people(store, "bob")
        one = await store.put("a.md", "kingfisher")
        await store.put("b.md", "cormorant")
        await share(store, one, users=("bob",))
        await share(store, one)
        words = PostgresVocabulary(store.database)
        assert (
            await words.known_words(["kingfisher", "cormorant"], scope=await store.library.scope("bob")) == frozenset()
        )
        assert await words.known_words(["kingfisher", "cormorant"], scope=await store.scope()) == {
            "kingfisher",
            "cormorant",
        }

    with_store(test)


def test_a_packed_document_is_hidden_after_its_share_is_revoked(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await people(store, "bob")
        documents = [await store.put(f"{n}.md", f"common word number{n}") for n in range(6)]
        for document in documents:
            await share(store, document, users=("bob",))
        await PackedPostings(store.database, least=1).make()
        assert await found(store, "bob", "common") == set(documents)
        await share(store, documents[2])
        assert await found(store, "bob", "common") == set(documents) - {documents[2]}
        assert await found(store, "local", "common") == set(documents)
        assert await realm_mismatches(store) == []

    with_store(test)


def test_readers_of_a_folder_apply_below_it_unless_overridden(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await people(store, "bob", "carol", staff=["bob"])
        rights, scope = Permissions(store.database), await store.scope()
        top = await store.put("a.md", "crane", folder="hr")
        deep = await store.put("b.md", "crane", folder="hr/pay")
        own = await store.put("c.md", "crane", folder="hr/pay")
        await store.put("d.md", "crane", folder="hrx")
        await share(store, own, users=("carol",))
        await rights.share_folder(scope, "hr", await rights.readers(scope, ShareRequest(groups=("staff",))))
        assert await found(store, "bob", "crane") == {top, deep}
        assert await found(store, "carol", "crane") == {own}
        later = await store.put("e.md", "crane", folder="hr")
        assert await found(store, "bob", "crane") == {top, deep, later}
        await rights.share_folder(scope, "hr/pay", ())
        assert await found(store, "bob", "crane") == {top, later}
        await rights.share_folder(scope, "hr", None)
        assert await found(store, "bob", "crane") == set()
        await rights.share(await store.scope(), own, None)
        assert await found(store, "carol", "crane") == set()
        assert await realm_mismatches(store) == []

    with_store(test)


def test_a_moved_document_or_folder_gets_the_readers_of_its_new_folder(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await people(store, "bob")
        rights, scope = Permissions(store.database), await store.scope()
        await rights.share_folder(scope, "open", await rights.readers(scope, ShareRequest(users=("bob",))))
        one = await store.put("a.md", "stork", folder="shut")
        await store.put("b.md", "stork", folder="elsewhere")
        await DocumentEditor(store.database).update(await store.scope(), one, DocumentChange(folder="open"))
        assert await found(store, "bob", "stork") == {one}
        await Folders(store.database).move(await store.scope(), "open", "moved")
        assert await found(store, "bob", "stork") == {one}  # the prompt and label move with the folder
        await DocumentEditor(store.database).update(await store.scope(), one, DocumentChange(folder="shut"))
        assert await found(store, "bob", "stork") == set()
        assert await realm_mismatches(store) == []

    with_store(test)


def test_a_document_shared_while_it_is_indexed_is_found_by_its_readers(with_store: Any) -> None:
    async def test(store: Any) -> None:
        from collections import Counter

        from pincite.core.documents.document import Parsed
        from pincite.store.indexing.chunk_rows import ChunkRow
        from pincite.store.indexing.publish import ParsedVersion
        from pincite.text.sentences import fingerprint
        from tests.builders import chunk

        await people(store, "bob")
        await store.put("other.md", "nothing of it")
        document_id = await store.accept("a.md", "swan")
        job = await store.jobs.claim("tester", 60)
        edition = await store.indexing.begin(await store.indexing.target(job))
        entry = ChunkRow(chunk(0, "swan"), fingerprint("swan"), Counter(["swan"]), b"h", [await store.vector("swan")])
        await share(store, document_id, users=("bob",))
        await store.indexing.write(edition, [entry])
        await store.indexing.serve(edition, ParsedVersion(Parsed("swan", "markdown")))
        assert await realm_mismatches(store) == []
        assert await found(store, "bob", "swan") == {document_id}

    with_store(test)


def test_an_interrupted_permission_change_is_effective_and_finished_later(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await people(store, "bob")
        one = await store.put("a.md", "egret")
        await store.put("b.md", "egret")
        await share(store, one, users=("bob",))
        other = await store.put("c.md", "egret")
        await share(store, other, users=("bob",))
        async with store.database.transaction("local") as connection:  # and then the process dies
            await connection.execute("update document set readers = '{}' where id = %s", (one,))
            assert await assign_realms(connection, "local", [one]) == [one]
        assert await realm_mismatches(store) != []
        assert await found(store, "bob", "egret") == {other}  # nothing of it is read back
        assert await Permissions(store.database).finish_moves() == 1
        assert await realm_mismatches(store) == []
        assert await found(store, "local", "egret") >= {one, other}

    with_store(test)


def test_the_database_refuses_changes_by_readers(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await people(store, "bob")
        one = await store.put("a.md", "bittern")
        await share(store, one, users=("bob",))
        for table in ("document", "version", "edition", "chunk", "vector", "posting", "vocabulary", "corpus"):
            async with store.database.transaction("bob") as connection:
                assert await fetch_all(connection, f"select 1 from {table} limit 1")  # type: ignore[arg-type]
                assert (await connection.execute(f"update {table} set realm = realm")).rowcount == 0
                assert (await connection.execute(f"delete from {table}")).rowcount == 0
        bob = await store.library.scope("bob")
        for call in (
            store.removal.remove(bob, one),
            DocumentEditor(store.database).update(bob, one, DocumentChange(title="mine now")),
            Permissions(store.database).share(bob, one, ("everyone",)),
        ):
            with pytest.raises(NotFound):
                await call

    with_store(test)


def test_a_role_opens_a_document_to_its_users_as_long_as_they_have_it(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await people(store, "bob", "carol")
        one = await store.put("a.md", "wren")
        await share(store, one, roles=("editor",))
        assert (await store.library.get(await store.scope(), one)).access == Access("local", roles=("editor",))

        await set_role(store, "bob", "editor")
        assert (await found(store, "bob", "wren"), await found(store, "carol", "wren")) == ({one}, set())
        assert (await store.library.get(await store.library.scope("bob"), one)).access == Access("local")
        await set_role(store, "bob", "reader")
        assert await found(store, "bob", "wren") == set()
        await share(store, one, roles=("reader", "administrator"))
        assert (await found(store, "bob", "wren"), await found(store, "carol", "wren")) == ({one}, {one})

    with_store(test)


def test_only_the_owner_sees_the_other_readers(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await people(store, "bob", "carol", staff=["bob"])
        one = await store.put("a.md", "wren")
        await share(store, one, users=("bob", "carol"), groups=("staff",))
        assert (await store.library.get(await store.scope(), one)).access == Access(
            "local", ("bob", "carol"), ("staff",)
        )
        assert (await store.library.get(await store.library.scope("bob"), one)).access == Access("local")

    with_store(test)


def test_sharing_with_an_unknown_user_is_refused(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await people(store, "bob")
        rights, scope = Permissions(store.database), await store.scope()
        for wish in (ShareRequest(users=("bob", "nobody")), ShareRequest(groups=("bob",))):
            with pytest.raises(Invalid):
                await rights.readers(scope, wish)
        assert await rights.readers(scope, ShareRequest(users=("BOB", "local"))) == ("user:bob",)

    with_store(test)


def test_an_upload_may_set_its_readers(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await people(store, "bob")
        rights, scope = Permissions(store.database), await store.scope()
        await rights.share_folder(scope, "open", ("everyone",))
        for name, readers in (("shut.md", ()), ("bobs.md", ("user:bob",)), ("open.md", None)):
            upload = Upload(name, b"text", "open", readers=readers)
            await store.intake.accept(scope, upload, mime="text/markdown", checksum=name)
        listed, _ = await store.library.documents(await store.library.scope("bob"), Listing())
        assert {document.name for document in listed} == {"bobs.md", "open.md"}

    with_store(test)


def test_a_concurrent_upload_does_not_become_readable_by_a_share(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await people(store, "bob")
        first = await store.put("first.md", "teal")
        for n in range(10):
            upload = store.intake.accept(
                await store.scope(), Upload(f"{n}.md", b"text %d" % n), mime="text/markdown", checksum=f"{n}"
            )
            wish = {"users": ("bob",)} if n % 2 == 0 else {}
            await asyncio.gather(upload, share(store, first, **wish))
            listed, _ = await store.library.documents(await store.library.scope("bob"), Listing())
            assert {document.id for document in listed} <= {first}

    with_store(test)


def test_an_integrity_check_counts_shared_documents_once(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await people(store, "bob")
        await share(store, await store.put("a.md", "plover"), everyone=True)
        looked = await inspect(store.database, store.files, lambda _: None)
        assert (looked.documents, looked.wrong) == (1, ())

    with_store(test)


def test_unknown_and_suspended_people_see_nothing(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await people(store, "bob")
        await share(store, await store.put("a.md", "rail"), everyone=True)
        assert (await store.library.scope("bob")).realms
        await Users(store.database).suspend("local", "bob", suspended=True)
        assert await store.library.scope("bob") == Scope("bob", ())
        assert await store.library.scope("") == Scope("", ())
        assert await store.library.scope("never heard of") == Scope("never heard of", ())

    with_store(test)


def test_cached_permissions_are_per_person_and_transaction(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await people(store, "bob", "carol")
        one = await store.put("a.md", "avocet")
        await store.put("b.md", "avocet")
        await share(store, one, users=("bob",))
        async with store.database.transaction("bob", local=CACHE_PERMISSIONS) as connection:
            assert await fetch_all(connection, "select id from document") == [(one,)]
            for other in ("carol", ""):
                await connection.execute("select set_config('pincite.person', %s, true)", (other,))
                assert await fetch_all(connection, "select id from document") == []
            await connection.execute("select set_config('pincite.person', 'bob', true)")
            assert await fetch_all(connection, "select id from document") == [(one,)]
        await share(store, one)
        for local in (CACHE_PERMISSIONS, {}):
            async with store.database.transaction("bob", local=local) as connection:
                assert await fetch_all(connection, "select id from document") == []

    with_store(test)


@pytest.mark.parametrize("packed", [False, True])
def test_index_rows_of_many_documents_are_moved_in_batches(
    with_store: Any, monkeypatch: pytest.MonkeyPatch, packed: bool
) -> None:
    monkeypatch.setattr(module, "CHUNKS_PER_TRANSACTION", 6)

    async def test(store: Any) -> None:
        await people(store, "bob", "carol", staff=["bob"])
        rights, scope = Permissions(store.database), await store.scope()
        moved = [await store.put(f"{n}.md", f"ibis number{n}", "ibis again", folder="hr") for n in range(10)]
        own = await store.put("own.md", "ibis alone", folder="hr")
        kept = [await store.put(f"k{n}.md", f"ibis kept{n}") for n in range(3)]
        if packed:
            await PackedPostings(store.database, least=1).make()
        await share(store, own, users=("carol",))
        await rights.share_folder(scope, "hr", await rights.readers(scope, ShareRequest(groups=("staff",))))
        assert await found(store, "bob", "ibis") == set(moved)
        assert await found(store, "carol", "ibis") == {own}
        assert await found(store, "local", "ibis") == {*moved, own, *kept}
        assert await realm_mismatches(store) == []
        words = PostgresVocabulary(store.database)
        bob = await store.library.scope("bob")
        assert await words.known_words(["number3", "kept1", "alone"], scope=bob) == {"number3"}
        await rights.share_folder(scope, "hr", None)
        assert await found(store, "bob", "ibis") == set()
        assert await found(store, "local", "ibis") == {*moved, own, *kept}
        assert await realm_mismatches(store) == []

    with_store(test)


def test_batches_are_limited_and_never_split_a_document() -> None:
    sizes = [("a", 1500), ("b", 400), ("c", 400), ("d", 9000), ("e", 0), ("f", 0)]
    assert module._batches(sizes) == [["a", "b"], ["c"], ["d"], ["e", "f"]]
    assert module._batches([]) == []


def test_a_person_without_readable_documents_finds_nothing(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await people(store, "bob")
        one = await store.put("a.md", "dunlin")
        nobody, vector = await store.library.scope("bob"), await store.vector("dunlin")
        assert nobody == Scope("bob", ())
        filters = (ALL, Filters(document_ids=(one,)), Filters(folder=""), Filters(tags=("x",)))
        for each in filters:
            assert await store.index.lexical("dunlin", scope=nobody, filters=each, limit=9) == []
            assert await store.index.dense(vector, scope=nobody, filters=each, limit=9) == []
            assert await store.index.documents_named(["a.md"], vector, scope=nobody, filters=each) == []
            assert await store.index.nearest_in_documents([one], vector, scope=nobody, filters=each, limit=9) == []
        assert (await store.index.fetch([1, 2, 3], [vector], scope=nobody)).chunks == {}
        assert await PostgresVocabulary(store.database).known_words(["dunlin"], scope=nobody) == frozenset()

    with_store(test)


def test_documents_are_transferred_to_an_heir_with_their_readers(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await people(store, "ada", "bob", "carol", staff=["bob"])
        everybody, rights = Users(store.database), Permissions(store.database)
        ids = {}
        for name, folder in (("private", ""), ("shared", "open/deep"), ("heirs", "")):
            ids[name] = await store.put(f"{name}.md", f"osprey {name}", folder=folder)
        scope = await store.scope()
        await rights.share_folder(scope, "open", await rights.readers(scope, ShareRequest(groups=("staff",))))
        await share(store, ids["heirs"], users=("carol",))
        ada, carol = await everybody.get("local", "ada"), await everybody.get("local", "carol")
        async with store.database.administrator() as admin:  # ada owns the documents, and carol has one of her own
            await admin.execute("update pincite.document set owner = 'ada'")
            await admin.execute("update pincite.folder set owner = 'ada'")
            await admin.execute("update pincite.realm set owner = 'ada'")
            await admin.execute("insert into pincite.realm (owner) values ('carol'), ('local')")
        with pytest.raises(Conflict):
            await everybody.remove("local", "ada")
        blocked = (
            (
                "insert into pincite.folder (owner, path) values ('carol', 'ada/x')",
                "delete from pincite.folder where owner = 'carol'",
            ),
            (_BUSY, "delete from pincite.job"),
        )
        for block, free in blocked:
            async with store.database.administrator() as admin:
                await admin.execute(block)
                with pytest.raises(Conflict):
                    await rights.hand_over("local", ada, carol)
                await admin.execute(free)
        assert await rights.hand_over("local", ada, carol) == 3
        assert await found(store, "carol", "osprey") == set(ids.values())
        assert await found(store, "bob", "osprey") == {ids["shared"]}
        assert await found(store, "ada", "osprey") == set()
        assert await realm_mismatches(store) == []
        given = await store.library.get(await store.library.scope("carol"), ids["shared"])
        assert (given.folder, given.access.owner, given.access.groups) == ("ada/open/deep", "carol", ("staff",))
        assert await rows_of(store, _MARKED) == []
        await everybody.remove("local", "ada")
        async with store.database.transaction("carol") as connection:
            with pytest.raises(InsufficientPrivilege):
                await connection.execute("select hand_over('local', 'carol', 'x')")

    with_store(test)


_MARKED = """
    select 1 from pincite.realm r join pincite.document d on d.realm = r.id
    where position('was:' in array_to_string(r.readers, ' ')) > 0
"""
_BUSY = """
    insert into pincite.job (owner, document_id, version, state, place, lease_until)
    select 'ada', document_id, key, 'running', '', now() + interval '1 minute' from pincite.version limit 1
"""


async def rows_of(store: Any, query: str) -> list[Any]:
    async with store.database.administrator() as admin:
        return await fetch_all(admin, query)  # type: ignore[arg-type]
