import asyncio
import time
from typing import Any

import psycopg
import pytest

from pincite.errors import NotFound


def test_removing_leaves_nothing_and_says_what_went(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope = await shelf.scope()
        kept = await shelf.put("b.md", "kept words")
        gone = await shelf.put("a.md", "first passage", "second passage")
        receipt = await shelf.removal.remove(scope, gone)
        assert (receipt.versions, receipt.chunks, receipt.vectors, receipt.postings) == (1, 2, 2, 4)
        assert receipt.file
        assert receipt.verified
        assert not list(shelf.files._folder.glob(f"{gone}*"))
        with pytest.raises(NotFound):
            await shelf.library.get(scope, gone)
        with pytest.raises(NotFound):
            await shelf.removal.remove(scope, gone)
        assert (await shelf.library.get(scope, kept)).chunks == 1

    with_shelf(test)


def test_an_answer_left_in_a_trace_is_not_called_removed(with_shelf: Any, database_url: str) -> None:
    async def test(shelf: Any) -> None:
        scope, document_id = await shelf.scope(), await shelf.put("a.md", "text")
        remove = shelf.files.remove

        def meanwhile(document_id: str, version_id: str) -> bool:
            with psycopg.connect(database_url) as other:
                other.execute(
                    "insert into pincite.trace (id, owner, kind, started_at, duration_ms, content, documents)"
                    " values ('t', 'local', 'query', now(), 1, '{\"answer\": \"text\"}', array[%s])",
                    (document_id,),
                )
            return bool(remove(document_id, version_id))

        shelf.files.remove = meanwhile
        assert not (await shelf.removal.remove(scope, document_id)).verified

    with_shelf(test)


def test_the_same_file_added_again_while_removed_keeps_its_bytes(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope = await shelf.scope()
        document_id = await shelf.put("a.md", "text")
        remove = shelf.files.remove

        def slow(document_id: str, version_id: str) -> bool:
            time.sleep(0.2)
            return bool(remove(document_id, version_id))

        shelf.files.remove = slow
        removing = asyncio.create_task(shelf.removal.remove(scope, document_id))
        await asyncio.sleep(0.1)
        assert await shelf.accept("a.md", "text") == document_id
        assert (await removing).verified
        assert (await shelf.library.raw(scope, document_id))[1] == b"text"

    with_shelf(test)
