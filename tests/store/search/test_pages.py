"""Pages are stored with a version's text and removed with it."""

from typing import Any

import psycopg
import pytest

from pincite.core.accounts.access import Scope
from pincite.core.documents.document import Parsed
from pincite.core.documents.pages import Page, PageMark, pack
from pincite.core.documents.positions import Slice, TextSpan, describe_places, locate
from pincite.store.indexing.publish import ParsedVersion
from pincite.store.operations.integrity import inspect
from pincite.store.search.pages import MARKS_PER_PART, Pages, pages_of_spans

ROWS = 12 * MARKS_PER_PART
SHEET = "\n".join(f"| {n} | x{n} |" for n in range(1, ROWS + 1))


def long_sheet() -> Page:
    marks, at = [], 0
    for n, row in enumerate(SHEET.split("\n"), start=1):
        marks.append(PageMark(at, at + len(row), ref=f"A{n}:B{n}"))
        at += len(row) + 1
    return Page(0, "sheet", "Numbers", marks=pack(marks))


async def put(store: Any, name: str, parsed: Parsed) -> tuple[str, str]:
    """Add and publish a document with this text and these pages; return its id and version."""
    document_id = await store.accept(name, parsed.text)
    job = await store.jobs.claim("tester", 60)
    await store.indexing.serve(await store.indexing.begin(await store.indexing.target(job)), ParsedVersion(parsed))
    return document_id, (await store.library.get(await store.scope(), document_id)).version


def test_a_page_is_read_as_it_was_stored(with_store: Any) -> None:
    page = Page(0, "page", "", 595.0, 842.0, pack([PageMark(0, 4, box=(72.0, 30.5, 99.9, 42.0))]))
    parsed = Parsed("Five days.\n\nTwo more.", "markdown", pages=(page, Page(12, "page", "", 595.0, 842.0)))

    async def test(store: Any) -> None:
        scope = await store.scope()
        extract = TextSpan(*await put(store, "a.md", parsed), 0, len(parsed.text))
        found, count = await Pages(store.database).of(scope, extract, number=1)
        assert ([(leaf.number, leaf.page, leaf.end) for leaf in found], count) == ([(1, page, 12)], 2)
        both = await pages_of_spans(
            store.database, [extract, TextSpan(extract.document_id, extract.version, 13, 15)], scope
        )
        assert [[leaf.number for leaf in one] for one in both] == [[1, 2], [2]]
        assert await Pages(store.database).of(scope, extract, number=3) == ([], 2)

    with_store(test)


def test_of_a_long_page_only_the_overlapping_parts_are_read(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope = await store.scope()
        document_id, version = await put(store, "a.md", Parsed(SHEET, "markdown", pages=(long_sheet(),)))
        for row in (1, MARKS_PER_PART, MARKS_PER_PART + 1, ROWS):
            start = SHEET.index(f"x{row} |")
            span = TextSpan(document_id, version, start, start + len(f"x{row}"))
            [found] = await pages_of_spans(store.database, [span], scope)
            assert len(found) == 1
            assert len(found[0].page.unpack_marks()) <= MARKS_PER_PART
            assert describe_places(locate(found, span.start, span.end, Slice(SHEET))) == f"sheet Numbers, B{row}"
        found, count = await Pages(store.database).of(
            scope, TextSpan(document_id, version, 0, len(SHEET)), name="numbers"
        )
        assert (sum(len(leaf.page.unpack_marks()) for leaf in found), count) == (ROWS, 1)

    with_store(test)


def test_pages_are_replaced_when_a_document_is_parsed_again(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope = await store.scope()
        document_id, version = await put(store, "a.md", Parsed("a" * 20, "markdown", pages=(Page(0), Page(10))))
        await store.intake.reindex(scope, [document_id], stale=None, priority=1)
        job = await store.jobs.claim("tester", 60)
        parsed = Parsed("b" * 30, "markdown", pages=(Page(0, "slide"),))
        await store.indexing.serve(await store.indexing.begin(await store.indexing.target(job)), ParsedVersion(parsed))
        [found] = await pages_of_spans(store.database, [TextSpan(document_id, version, 0, 30)], scope)
        assert [(leaf.page.kind, leaf.end) for leaf in found] == [("slide", 30)]

    with_store(test)


def test_nobody_else_finds_a_page(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope = await store.scope()
        extract = TextSpan(*await put(store, "a.md", Parsed("a" * 20, "markdown", pages=(Page(0),))), 0, 20)
        for stranger in (Scope("local", ()), Scope("stranger", scope.realms), Scope("", scope.realms)):
            assert await pages_of_spans(store.database, [extract], stranger) == [[]]
            assert await Pages(store.database).of(stranger, extract, number=1) == ([], 0)

    with_store(test)


def test_pages_are_removed_with_their_document(with_store: Any, database_url: str) -> None:
    async def test(store: Any) -> None:
        document_id, _ = await put(store, "a.md", Parsed("a" * 20, "markdown", pages=(Page(0),)))
        with psycopg.connect(database_url) as admin:
            assert admin.execute("select count(*) from pincite.page").fetchone() == (1,)
            assert (await store.removal.remove(await store.scope(), document_id)).verified
            assert admin.execute("select count(*) from pincite.page").fetchone() == (0,)

    with_store(test)


@pytest.mark.parametrize(
    "damage", ["update pincite.page set end_char = 19 where number = 2", "delete from pincite.page where number = 2"]
)
def test_an_integrity_check_finds_pages_that_do_not_match_the_text(
    with_store: Any, database_url: str, damage: str
) -> None:
    async def test(store: Any) -> None:
        await put(store, "a.md", Parsed("a" * 20, "markdown", pages=(Page(0), Page(8), Page(12))))
        told = "its pages do not match its text"
        before = await inspect(store.database, store.files, lambda _: None)
        assert not [line for line in before.wrong if told in line]
        with psycopg.connect(database_url) as admin:
            admin.execute(damage)  # type: ignore[arg-type]
        after = await inspect(store.database, store.files, lambda _: None)
        assert [line for line in after.wrong if told in line]

    with_store(test)
