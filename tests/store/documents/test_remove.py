import asyncio
import threading
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pincite.errors import NotFound
from pincite.providers.scripted import Options, ScriptedLLM
from tests.builders import answering


def test_a_removal_leaves_nothing_and_returns_a_receipt(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope = await store.scope()
        kept = await store.put("b.md", "kept words")
        gone = await store.put("a.md", "first passage", "second passage")
        receipt = await store.removal.remove(scope, gone)
        assert (receipt.versions, receipt.chunks, receipt.vectors, receipt.postings) == (1, 2, 2, 4)
        assert receipt.file
        assert receipt.verified
        assert not list(store.files._folder.glob(f"{gone}*"))
        with pytest.raises(NotFound):
            await store.library.get(scope, gone)
        with pytest.raises(NotFound):
            await store.removal.remove(scope, gone)
        assert (await store.library.get(scope, kept)).chunks == 1

    with_store(test)


def test_a_removal_is_not_verified_while_a_trace_has_the_answer(with_store: Any, database_url: str) -> None:
    async def test(store: Any) -> None:
        scope, document_id = await store.scope(), await store.put("a.md", "text")
        remove = store.files.remove

        def meanwhile(document_id: str, version_id: str) -> bool:
            with psycopg.connect(database_url) as other:
                other.execute(
                    "insert into pincite.trace (id, owner, kind, started_at, duration_ms, content, documents)"
                    " values ('t', 'local', 'query', now(), 1, '{\"answer\": \"text\"}', array[%s])",
                    (document_id,),
                )
            return bool(remove(document_id, version_id))

        store.files.remove = meanwhile
        assert not (await store.removal.remove(scope, document_id)).verified

    with_store(test)


def test_the_same_file_added_again_while_removed_keeps_its_bytes(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope = await store.scope()
        document_id = await store.put("a.md", "text")
        remove, gone, added = store.files.remove, threading.Event(), threading.Event()

        def slow(document_id: str, version_id: str) -> bool:
            gone.set()  # removed from the database, not yet from disk
            assert added.wait(60)
            return bool(remove(document_id, version_id))

        store.files.remove = slow
        removing = asyncio.create_task(store.removal.remove(scope, document_id))
        assert await asyncio.to_thread(gone.wait, 60)
        assert await store.accept("a.md", "text") == document_id
        added.set()
        assert (await removing).verified
        assert (await store.library.raw(scope, document_id))[1] == b"text"

    with_store(test)


CANARY = "qvarntz"


def _columns_with(database_url: str, word: str) -> set[str]:
    """Return every column of every table that contains a word, whatever its type; future tables included."""
    found = set()
    with psycopg.connect(database_url) as connection:
        columns = connection.execute(
            "select table_name, column_name, data_type from information_schema.columns where table_schema = 'pincite'"
        ).fetchall()
        assert len(columns) > 100
        for table, column, kind in columns:
            held = (
                f"position(convert_to('{word}', 'UTF8') in \"{column}\") > 0"
                if kind == "bytea"
                else f"lower(\"{column}\"::text) like '%{word}%'"
            )
            if connection.execute(f'select 1 from pincite."{table}" where {held} limit 1').fetchone():
                found.add(f"{table}.{column}")
    return found


def test_no_column_of_any_table_contains_removed_words(open_pincite: Any, database_url: str, tmp_path: Path) -> None:
    from pincite.core.query.question import Question
    from pincite.evaluate.questions.own_documents import EvalRequest, make_set
    from pincite.store.search.packed_postings import PackedPostings

    body = "The key of the {0} room hangs behind the blue cup. {0} is a word that nobody else has written."
    paper = tmp_path / f"{CANARY}.md"

    async def use() -> Any:
        async with open_pincite(traces__content=True) as pincite:
            for heading in ("Keys", "Keys and locks"):
                paper.write_text(
                    f"---\ntitle: The {CANARY}\nauthor: {CANARY}\ntags: [{CANARY}]\n---\n\n# {heading} of {CANARY}\n\n"
                    + body.format(CANARY)
                )
                document = await pincite.add(paper, folder=f"about/{CANARY}")
            await pincite.services._clean_up()
            (tmp_path / "kept.md").write_text("# Kept\n\nThe cat is fed at half past six.")
            await pincite.add(tmp_path / "kept.md")
            assert await PackedPostings(pincite.services.database, least=1).make()
            session = await pincite.services.sessions.create(await pincite.scope(), "")
            answer = await pincite.ask(Question("Where does the key hang?", session_id=session.id))
            assert CANARY in answer.text
            thinking = ScriptedLLM(Options(answers=(f"<think>So it is {CANARY}.</think>It hangs there. [Source 1]",)))
            with answering(pincite, thinking):
                await pincite.ask(Question("Where does the key hang?", fresh=True))
            await make_set(pincite, EvalRequest(questions=20, by="words"), report=lambda _progress: None)
            with psycopg.connect(database_url) as other:
                other.execute(
                    "insert into pincite.enrichment (document_id, realm, hash, summary, questions)"
                    " select id, realm, '\\x00', %s, array[%s] from pincite.document where id = %s",
                    (CANARY, CANARY, document.id),
                )
            await pincite.services.traces.get(await pincite.scope(), answer.metadata.trace_id)  # written by now
            before = _columns_with(database_url, CANARY)
            receipt = await pincite.remove(document.id)
            assert await pincite.ask("Where is the cat fed?")
        return before, receipt

    before, receipt = asyncio.run(use())
    assert before >= {
        "document.title",
        "document.name",
        "document.tags",
        "document.folder",
        "version.text",
        "chunk.text",
        "posting.term",
        "past_posting.term",
        "packed.term",
        "vocabulary.word",
        "turn.words",
        "turn.answer",
        "trace.content",
        "evaluation_question.text",
        "enrichment.summary",
        "piece.bytes",
        "cached_answer.answer",
    }
    assert _columns_with(database_url, CANARY) == set()
    assert (receipt.versions, receipt.cache_entries, receipt.file, receipt.verified) == (2, 2, True, True)
    assert min(receipt.chunks, receipt.vectors, receipt.postings, receipt.quotes) > 0
