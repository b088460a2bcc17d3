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
from pincite.store.access.permissions import Permissions, refile
from pincite.store.access.users import Users
from pincite.store.database import REMEMBER, rows
from pincite.store.documents.folders import Folders
from pincite.store.documents.rename import DocumentEditor
from pincite.store.operations.integrity import inspect
from pincite.store.search.packed_postings import PackedPostings
from pincite.store.search.vocabulary import PostgresVocabulary

ALL = Filters()


async def people(shelf: Any, *names: str, **groups: Sequence[str]) -> None:
    everybody = Users(shelf.database)
    for name in names:
        await everybody.add("local", name, "reader")
    for group, members in groups.items():
        await everybody.add_group("local", group)
        for member in members:
            await everybody.join("local", group, member)


async def found(shelf: Any, person: str, words: str) -> set[str]:
    """The documents that a person finds, by words and by meaning; both ways agree."""
    scope = await shelf.library.scope(person)
    by_words = await shelf.index.lexical(words, scope=scope, filters=ALL, limit=50)
    by_meaning = await shelf.index.dense(await shelf.vector(words), scope=scope, filters=ALL, limit=50)
    read = await shelf.index.fetch([m.key for m in (*by_words, *by_meaning)], [], scope=scope)
    listed, _ = await shelf.library.documents(scope, Listing())
    assert {chunk.document_id for chunk in read.chunks.values()} <= {document.id for document in listed}
    return {read.chunks[match.key].document_id for match in by_words if match.key in read.chunks}


async def share(shelf: Any, document_id: str, **wish: Any) -> None:
    rights, scope = Permissions(shelf.database), await shelf.scope()
    await rights.share(scope, document_id, await rights.readers(scope, ShareRequest(**wish)))


async def realm_mismatches(shelf: Any) -> list[Any]:
    """Rows that lie elsewhere than their document."""
    wrong: list[Any] = []
    async with shelf.database.administrator() as admin:
        for table in ("chunk", "vector", "posting", "past_posting", "past_vector"):
            query = (
                f"select t.* from pincite.{table} t join pincite.edition e on e.key = t.edition join pincite.document d"
            )
            query += " on d.id = e.document_id where t.realm <> d.realm or e.realm <> d.realm"
            wrong += await rows(admin, query)  # type: ignore[arg-type]
    return wrong


@pytest.mark.parametrize(
    "wish", [{"users": ("bob",)}, {"groups": ("staff",)}, {"everyone": True}], ids=["user", "group", "everyone"]
)
def test_what_is_shared_is_found_and_what_is_taken_back_is_not(with_shelf: Any, wish: dict[str, Any]) -> None:
    async def test(shelf: Any) -> None:
        await people(shelf, "bob", "carol", staff=["bob"])
        shared = await shelf.put("a.md", "the heron stands in the reeds")
        kept = await shelf.put("b.md", "the heron flies over the lake")
        assert await found(shelf, "bob", "heron") == set()
        await share(shelf, shared, **wish)
        assert await found(shelf, "bob", "heron") == {shared}
        assert await found(shelf, "carol", "heron") == ({shared} if "everyone" in wish else set())
        assert await found(shelf, "local", "heron") == {shared, kept}
        assert await realm_mismatches(shelf) == []
        await share(shelf, shared)
        assert await found(shelf, "bob", "heron") == set()
        assert await found(shelf, "local", "heron") == {shared, kept}
        with pytest.raises(NotFound):
            await shelf.library.get(await shelf.library.scope("bob"), shared)

    with_shelf(test)


def test_statistics_and_words_are_those_of_what_one_may_read(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await people(shelf, "bob")
        shared = await shelf.put("a.md", "otters swim", "otters sleep")
        bob = await shelf.library.scope("bob")
        await share(shelf, shared, users=("bob",))
        bob = await shelf.library.scope("bob")
        alone = await shelf.index.lexical("otters swim", scope=bob, filters=ALL, limit=10)
        for n in range(5):
            await shelf.put(f"h{n}.md", "otters hoard a secretword swim swim")
        again = await shelf.index.lexical("otters swim", scope=await shelf.library.scope("bob"), filters=ALL, limit=10)
        assert alone == again  # the same scores, though others own more of it
        words = PostgresVocabulary(shelf.database)
        assert await words.known_words(["secretword", "otters"], scope=bob) == {"otters"}
        assert await words.known_words(["secretword", "otters"], scope=await shelf.scope()) == {"secretword", "otters"}

    with_shelf(test)


def test_words_go_with_the_last_document_that_holds_them(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await people(shelf, "bob")
        one = await shelf.put("a.md", "kingfisher")
        await shelf.put("b.md", "cormorant")
        await share(shelf, one, users=("bob",))
        await share(shelf, one)
        words = PostgresVocabulary(shelf.database)
        assert (
            await words.known_words(["kingfisher", "cormorant"], scope=await shelf.library.scope("bob")) == frozenset()
        )
        assert await words.known_words(["kingfisher", "cormorant"], scope=await shelf.scope()) == {
            "kingfisher",
            "cormorant",
        }

    with_shelf(test)


def test_a_packed_document_that_is_taken_back_is_found_by_nobody_else(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await people(shelf, "bob")
        documents = [await shelf.put(f"{n}.md", f"common word number{n}") for n in range(6)]
        for document in documents:
            await share(shelf, document, users=("bob",))
        await PackedPostings(shelf.database, least=1).make()
        assert await found(shelf, "bob", "common") == set(documents)
        await share(shelf, documents[2])
        assert await found(shelf, "bob", "common") == set(documents) - {documents[2]}
        assert await found(shelf, "local", "common") == set(documents)
        assert await realm_mismatches(shelf) == []

    with_shelf(test)


def test_a_folder_passes_its_rights_on_unless_something_nearer_says_otherwise(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await people(shelf, "bob", "carol", staff=["bob"])
        rights, scope = Permissions(shelf.database), await shelf.scope()
        top = await shelf.put("a.md", "crane", folder="hr")
        deep = await shelf.put("b.md", "crane", folder="hr/pay")
        own = await shelf.put("c.md", "crane", folder="hr/pay")
        await shelf.put("d.md", "crane", folder="hrx")
        await share(shelf, own, users=("carol",))
        await rights.share_folder(scope, "hr", await rights.readers(scope, ShareRequest(groups=("staff",))))
        assert await found(shelf, "bob", "crane") == {top, deep}
        assert await found(shelf, "carol", "crane") == {own}
        later = await shelf.put("e.md", "crane", folder="hr")
        assert await found(shelf, "bob", "crane") == {top, deep, later}
        await rights.share_folder(scope, "hr/pay", ())
        assert await found(shelf, "bob", "crane") == {top, later}
        await rights.share_folder(scope, "hr", None)
        assert await found(shelf, "bob", "crane") == set()
        await rights.share(await shelf.scope(), own, None)
        assert await found(shelf, "carol", "crane") == set()
        assert await realm_mismatches(shelf) == []

    with_shelf(test)


def test_rights_follow_a_document_or_folder_that_is_moved(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await people(shelf, "bob")
        rights, scope = Permissions(shelf.database), await shelf.scope()
        await rights.share_folder(scope, "open", await rights.readers(scope, ShareRequest(users=("bob",))))
        one = await shelf.put("a.md", "stork", folder="shut")
        await shelf.put("b.md", "stork", folder="elsewhere")
        await DocumentEditor(shelf.database).refile(await shelf.scope(), one, DocumentChange(folder="open"))
        assert await found(shelf, "bob", "stork") == {one}
        await Folders(shelf.database).move(await shelf.scope(), "open", "moved")
        assert await found(shelf, "bob", "stork") == {one}  # what a folder says goes with it
        await DocumentEditor(shelf.database).refile(await shelf.scope(), one, DocumentChange(folder="shut"))
        assert await found(shelf, "bob", "stork") == set()
        assert await realm_mismatches(shelf) == []

    with_shelf(test)


def test_what_is_shared_while_it_is_being_read_lies_where_its_readers_look(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        from collections import Counter

        from pincite.core.documents.document import Parsed
        from pincite.store.indexing.chunk_rows import ChunkRow
        from pincite.store.indexing.publish import ParsedVersion
        from pincite.text.sentences import fingerprint
        from tests.builders import chunk

        await people(shelf, "bob")
        await shelf.put("other.md", "nothing of it")
        document_id = await shelf.accept("a.md", "swan")
        job = await shelf.jobs.claim("tester", 60)
        edition = await shelf.indexing.begin(await shelf.indexing.target(job))
        entry = ChunkRow(chunk(0, "swan"), fingerprint("swan"), Counter(["swan"]), b"h", [await shelf.vector("swan")])
        await share(shelf, document_id, users=("bob",))
        await shelf.indexing.write(edition, [entry])
        await shelf.indexing.serve(edition, ParsedVersion(Parsed("swan", "markdown")))
        assert await realm_mismatches(shelf) == []
        assert await found(shelf, "bob", "swan") == {document_id}

    with_shelf(test)


def test_a_change_that_was_cut_off_counts_and_is_finished_later(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await people(shelf, "bob")
        one = await shelf.put("a.md", "egret")
        await shelf.put("b.md", "egret")
        await share(shelf, one, users=("bob",))
        other = await shelf.put("c.md", "egret")
        await share(shelf, other, users=("bob",))
        async with shelf.database.transaction("local") as connection:  # and then the process dies
            await connection.execute("update document set readers = '{}' where id = %s", (one,))
            assert await refile(connection, "local", [one]) == [one]
        assert await realm_mismatches(shelf) != []
        assert await found(shelf, "bob", "egret") == {other}  # nothing of it is read back
        assert await Permissions(shelf.database).settle() == 1
        assert await realm_mismatches(shelf) == []
        assert await found(shelf, "local", "egret") >= {one, other}

    with_shelf(test)


def test_a_reader_changes_nothing_even_where_a_check_was_forgotten(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await people(shelf, "bob")
        one = await shelf.put("a.md", "bittern")
        await share(shelf, one, users=("bob",))
        for table in ("document", "version", "edition", "chunk", "vector", "posting", "vocabulary", "corpus"):
            async with shelf.database.transaction("bob") as connection:
                assert await rows(connection, f"select 1 from {table} limit 1")  # type: ignore[arg-type]
                assert (await connection.execute(f"update {table} set realm = realm")).rowcount == 0
                assert (await connection.execute(f"delete from {table}")).rowcount == 0
        bob = await shelf.library.scope("bob")
        for call in (
            shelf.removal.remove(bob, one),
            DocumentEditor(shelf.database).refile(bob, one, DocumentChange(title="mine now")),
            Permissions(shelf.database).share(bob, one, ("everyone",)),
        ):
            with pytest.raises(NotFound):
                await call

    with_shelf(test)


def test_only_the_owner_is_told_who_else_may_read(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await people(shelf, "bob", "carol", staff=["bob"])
        one = await shelf.put("a.md", "wren")
        await share(shelf, one, users=("bob", "carol"), groups=("staff",))
        assert (await shelf.library.get(await shelf.scope(), one)).access == Access(
            "local", ("bob", "carol"), ("staff",)
        )
        assert (await shelf.library.get(await shelf.library.scope("bob"), one)).access == Access("local")

    with_shelf(test)


def test_somebody_unknown_cannot_be_shared_with(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await people(shelf, "bob")
        rights, scope = Permissions(shelf.database), await shelf.scope()
        for wish in (ShareRequest(users=("bob", "nobody")), ShareRequest(groups=("bob",))):
            with pytest.raises(Invalid):
                await rights.readers(scope, wish)
        assert await rights.readers(scope, ShareRequest(users=("BOB", "local"))) == ("user:bob",)

    with_shelf(test)


def test_an_upload_may_say_itself_who_reads_it(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await people(shelf, "bob")
        rights, scope = Permissions(shelf.database), await shelf.scope()
        await rights.share_folder(scope, "open", ("everyone",))
        for name, readers in (("shut.md", ()), ("bobs.md", ("user:bob",)), ("open.md", None)):
            upload = Upload(name, b"text", "open", readers=readers)
            await shelf.intake.accept(scope, upload, mime="text/markdown", checksum=name)
        listed, _ = await shelf.library.documents(await shelf.library.scope("bob"), Listing())
        assert {document.name for document in listed} == {"bobs.md", "open.md"}

    with_shelf(test)


def test_an_upload_is_never_caught_in_a_realm_that_is_being_shared(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await people(shelf, "bob")
        first = await shelf.put("first.md", "teal")
        for n in range(10):
            upload = shelf.intake.accept(
                await shelf.scope(), Upload(f"{n}.md", b"text %d" % n), mime="text/markdown", checksum=f"{n}"
            )
            wish = {"users": ("bob",)} if n % 2 == 0 else {}
            await asyncio.gather(upload, share(shelf, first, **wish))
            listed, _ = await shelf.library.documents(await shelf.library.scope("bob"), Listing())
            assert {document.id for document in listed} <= {first}

    with_shelf(test)


def test_an_inspection_counts_what_is_shared_once(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await people(shelf, "bob")
        await share(shelf, await shelf.put("a.md", "plover"), everyone=True)
        looked = await inspect(shelf.database, shelf.files, lambda _: None)
        assert (looked.documents, looked.wrong) == (1, ())

    with_shelf(test)


def test_nobody_and_whoever_is_suspended_see_nothing(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await people(shelf, "bob")
        await share(shelf, await shelf.put("a.md", "rail"), everyone=True)
        assert (await shelf.library.scope("bob")).realms
        await Users(shelf.database).suspend("local", "bob", suspended=True)
        assert await shelf.library.scope("bob") == Scope("bob", ())
        assert await shelf.library.scope("") == Scope("", ())
        assert await shelf.library.scope("never heard of") == Scope("never heard of", ())

    with_shelf(test)


def test_what_is_remembered_of_rights_is_one_persons_and_ends_with_the_transaction(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await people(shelf, "bob", "carol")
        one = await shelf.put("a.md", "avocet")
        await shelf.put("b.md", "avocet")
        await share(shelf, one, users=("bob",))
        async with shelf.database.transaction("bob", local=REMEMBER) as connection:
            assert await rows(connection, "select id from document") == [(one,)]
            for other in ("carol", ""):
                await connection.execute("select set_config('pincite.person', %s, true)", (other,))
                assert await rows(connection, "select id from document") == []
            await connection.execute("select set_config('pincite.person', 'bob', true)")
            assert await rows(connection, "select id from document") == [(one,)]
        await share(shelf, one)
        for local in (REMEMBER, {}):
            async with shelf.database.transaction("bob", local=local) as connection:
                assert await rows(connection, "select id from document") == []

    with_shelf(test)


@pytest.mark.parametrize("packed", [False, True])
def test_many_documents_follow_in_batches_to_wherever_each_belongs(
    with_shelf: Any, monkeypatch: pytest.MonkeyPatch, packed: bool
) -> None:
    monkeypatch.setattr(module, "AT_A_TIME", 6)

    async def test(shelf: Any) -> None:
        await people(shelf, "bob", "carol", staff=["bob"])
        rights, scope = Permissions(shelf.database), await shelf.scope()
        moved = [await shelf.put(f"{n}.md", f"ibis number{n}", "ibis again", folder="hr") for n in range(10)]
        own = await shelf.put("own.md", "ibis alone", folder="hr")
        kept = [await shelf.put(f"k{n}.md", f"ibis kept{n}") for n in range(3)]
        if packed:
            await PackedPostings(shelf.database, least=1).make()
        await share(shelf, own, users=("carol",))
        await rights.share_folder(scope, "hr", await rights.readers(scope, ShareRequest(groups=("staff",))))
        assert await found(shelf, "bob", "ibis") == set(moved)
        assert await found(shelf, "carol", "ibis") == {own}
        assert await found(shelf, "local", "ibis") == {*moved, own, *kept}
        assert await realm_mismatches(shelf) == []
        words = PostgresVocabulary(shelf.database)
        bob = await shelf.library.scope("bob")
        assert await words.known_words(["number3", "kept1", "alone"], scope=bob) == {"number3"}
        await rights.share_folder(scope, "hr", None)
        assert await found(shelf, "bob", "ibis") == set()
        assert await found(shelf, "local", "ibis") == {*moved, own, *kept}
        assert await realm_mismatches(shelf) == []

    with_shelf(test)


def test_a_whole_document_is_never_divided_and_a_batch_holds_only_so_much() -> None:
    sizes = [("a", 1500), ("b", 400), ("c", 400), ("d", 9000), ("e", 0), ("f", 0)]
    assert module._batches(sizes) == [["a", "b"], ["c"], ["d"], ["e", "f"]]
    assert module._batches([]) == []


def test_whoever_reads_nothing_finds_nothing_whatever_they_ask(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await people(shelf, "bob")
        one = await shelf.put("a.md", "dunlin")
        nobody, vector = await shelf.library.scope("bob"), await shelf.vector("dunlin")
        assert nobody == Scope("bob", ())
        filters = (ALL, Filters(document_ids=(one,)), Filters(folder=""), Filters(tags=("x",)))
        for each in filters:
            assert await shelf.index.lexical("dunlin", scope=nobody, filters=each, limit=9) == []
            assert await shelf.index.dense(vector, scope=nobody, filters=each, limit=9) == []
            assert await shelf.index.match_titles(["a.md"], vector, scope=nobody, filters=each) == []
            assert await shelf.index.dense_within([one], vector, scope=nobody, filters=each, limit=9) == []
        assert (await shelf.index.fetch([1, 2, 3], [vector], scope=nobody)).chunks == {}
        assert await PostgresVocabulary(shelf.database).known_words(["dunlin"], scope=nobody) == frozenset()

    with_shelf(test)


def test_what_somebody_leaves_behind_is_given_to_an_heir_and_read_by_the_same_people(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await people(shelf, "ada", "bob", "carol", staff=["bob"])
        everybody, rights = Users(shelf.database), Permissions(shelf.database)
        ids = {}
        for name, folder in (("private", ""), ("shared", "open/deep"), ("heirs", "")):
            ids[name] = await shelf.put(f"{name}.md", f"osprey {name}", folder=folder)
        scope = await shelf.scope()
        await rights.share_folder(scope, "open", await rights.readers(scope, ShareRequest(groups=("staff",))))
        await share(shelf, ids["heirs"], users=("carol",))
        ada, carol = await everybody.get("local", "ada"), await everybody.get("local", "carol")
        async with shelf.database.administrator() as admin:  # ada has all of it, and carol something of her own
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
            async with shelf.database.administrator() as admin:
                await admin.execute(block)
                with pytest.raises(Conflict):
                    await rights.hand_over("local", ada, carol)
                await admin.execute(free)
        assert await rights.hand_over("local", ada, carol) == 3
        assert await found(shelf, "carol", "osprey") == set(ids.values())
        assert await found(shelf, "bob", "osprey") == {ids["shared"]}
        assert await found(shelf, "ada", "osprey") == set()
        assert await realm_mismatches(shelf) == []
        given = await shelf.library.get(await shelf.library.scope("carol"), ids["shared"])
        assert (given.folder, given.access.owner, given.access.groups) == ("ada/open/deep", "carol", ("staff",))
        assert await rows_of(shelf, _MARKED) == []
        await everybody.remove("local", "ada")
        async with shelf.database.transaction("carol") as connection:
            with pytest.raises(InsufficientPrivilege):
                await connection.execute("select hand_over('local', 'carol', 'x')")

    with_shelf(test)


_MARKED = """
    select 1 from pincite.realm r join pincite.document d on d.realm = r.id
    where position('was:' in array_to_string(r.readers, ' ')) > 0
"""
_BUSY = """
    insert into pincite.job (owner, document_id, version, state, place, lease_until)
    select 'ada', document_id, key, 'running', '', now() + interval '1 minute' from pincite.version limit 1
"""


async def rows_of(shelf: Any, query: str) -> list[Any]:
    async with shelf.database.administrator() as admin:
        return await rows(admin, query)  # type: ignore[arg-type]
