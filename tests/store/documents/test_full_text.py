from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pincite.core.accounts.access import Scope
from pincite.core.documents.document import ReadRequest
from pincite.core.query.question import Filters
from pincite.errors import NotFound
from pincite.store.documents.full_text import FullTextReader

ALL = Filters()


def test_a_document_is_opened_with_its_text_and_passages_in_order(with_store: Any) -> None:
    async def test(store: Any) -> None:
        document_id = await store.put("a.md", "# A\n\nCats purr.\n")
        volume = await FullTextReader(store.database).open(
            ReadRequest(document_id), scope=await store.scope(), filters=ALL
        )
        assert volume.text.document_id == document_id
        assert "Cats purr." in volume.text.text
        assert volume.passages
        for passage in volume.passages:
            assert volume.text.text[passage.start_char : passage.end_char] == passage.text
            assert passage.id.startswith(f"{document_id}.{volume.text.version}.")

    with_store(test)


def test_a_document_outside_scope_or_filter_is_not_found(with_store: Any) -> None:
    async def test(store: Any) -> None:
        document_id = await store.put("a.md", "mine", folder="hr")
        volumes, scope = FullTextReader(store.database), await store.scope()
        said = set()
        out = [
            (Scope("stranger", scope.realms), ALL),
            (Scope("stranger", ()), ALL),
            (Scope("local", ()), ALL),
            (scope, Filters(folder="it")),
            (scope, Filters(document_ids=("other",))),
            (scope, Filters(tags=("t",))),
            (scope, Filters(as_of=datetime.now(UTC) - timedelta(days=9))),
        ]
        for who, filters in out:
            with pytest.raises(NotFound) as raised:
                await volumes.open(ReadRequest(document_id), scope=who, filters=filters)
            said.add(str(raised.value).replace(document_id, "ID"))
        with pytest.raises(NotFound) as raised:
            await volumes.open(ReadRequest("nowhere"), scope=scope, filters=ALL)
        assert said == {str(raised.value).replace("nowhere", "ID")}
        inside = Filters(folder="hr", document_ids=(document_id,), as_of=datetime.now(UTC) + timedelta(days=1))
        assert (await volumes.open(ReadRequest(document_id), scope=scope, filters=inside)).text.text == "mine"

    with_store(test)


def test_a_document_without_a_source_is_found_by_its_name_if_no_other_has_the_same(with_store: Any) -> None:
    async def test(store: Any) -> None:
        reader = FullTextReader(store.database)

        async def read(source: str, filters: Filters = ALL) -> str:
            asked = ReadRequest(source_uri=source)
            return (await reader.open(asked, scope=await store.scope(), filters=filters)).text.text

        await store.put("voles.md", "named", folder="hr")
        assert await read("voles.md") == "named"
        with pytest.raises(NotFound, match=r"there is no document, or more than one, with the source or file name"):
            await read("voles.md", Filters(folder="it"))
        await store.put("voles.md", "of the same name", folder="it")
        with pytest.raises(NotFound, match=r"or more than one"):
            await read("voles.md")
        assert await read("voles.md", Filters(folder="hr")) == "named"

    with_store(test)
