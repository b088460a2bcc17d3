import asyncio
from collections.abc import Sequence

import pytest

from pincite.core.documents.document import NO_HEADINGS, About, Chunk, ChunkLevel
from pincite.ingest.embed.embed import breadcrumb, embed_chunks, embedded_text
from pincite.store.indexing.chunk_rows import ChunkRow
from tests.builders import chunk

ABOUT = About("doc1", "v1", "pets.md", None)
CHUNKS = [
    chunk(0, "all of it", level=ChunkLevel.DOCUMENT),
    chunk(1, "Cats purr."),
    chunk(2, "| a | 1 |", header="| name | n |\n|---|---|"),
    chunk(3, "Cats purr."),
]


def run(
    known: dict[bytes, list[list[float]]], chunks: Sequence[Chunk] = CHUNKS, title: str | None = None
) -> tuple[list[tuple[str, str]], list[ChunkRow]]:
    asked: list[tuple[str, str]] = []

    async def lane(passages: Sequence[tuple[str, str]]) -> list[list[list[float]]]:
        asked.extend(passages)
        return [[[1.0, 0.0]] for _ in passages]

    async def look_up(hashes: Sequence[bytes]) -> dict[bytes, list[list[float]]]:
        return {digest: known[digest] for digest in hashes if digest in known}

    return asked, asyncio.run(embed_chunks(chunks, title, "model/1", look_up, lane))


def test_equal_text_is_embedded_once_and_only_passages_are() -> None:
    asked, entries = run({})
    assert asked == [("", "Cats purr."), ("| name | n |\n|---|---|\n", "| a | 1 |")]
    assert [len(entry.windows) for entry in entries] == [0, 1, 1, 1]
    assert entries[1].hash == entries[3].hash != entries[2].hash
    assert entries[0].terms == {}


def test_a_table_is_found_by_the_words_of_its_header() -> None:
    _, entries = run({})
    assert {"name", "1"} <= set(entries[2].terms)
    assert entries[1].terms == {"cat": 1, "purr": 1}


def test_the_word_forms_of_a_passage_are_stored() -> None:
    _, entries = run({}, title="Pets at home")
    assert entries[0].forms == {}
    assert entries[1].forms == {"pets": "pet", "home": "home", "cats": "cat", "purr": "purr"}


def test_text_with_a_cached_vector_is_not_embedded_again() -> None:
    _, first = run({})
    asked, entries = run({first[1].hash: [[0.0, 1.0], [1.0, 0.0]]})
    assert [text for _, text in asked] == ["| a | 1 |"]
    assert entries[1].windows == [[0.0, 1.0], [1.0, 0.0]]


def test_the_input_of_a_passage_starts_with_its_breadcrumb() -> None:
    chunks = [
        chunk(1, "## Cats\n\nThey purr.", heading_path=("Pets", "Cats")),
        chunk(2, "They sleep.", heading_path=("Pets", "Cats")),
        chunk(3, "## Cats", heading_path=("Pets", "Cats")),
    ]
    asked, entries = run({}, chunks)
    assert asked == [("Pets > Cats\n", "They purr."), ("Pets > Cats\n", "They sleep."), ("Pets > Cats\n", "## Cats")]
    assert entries[0].terms == {"pet": 1, "cat": 2, "purr": 1}
    assert entries[1].terms == {"pet": 1, "cat": 1, "sleep": 1}


def test_equal_text_under_another_heading_is_another_passage() -> None:
    _, entries = run({}, [chunk(1, "Yes.", heading_path=("A",)), chunk(2, "Yes.", heading_path=("B",))])
    assert entries[0].hash != entries[1].hash


@pytest.mark.parametrize(
    ("title", "path", "above"),
    [
        (None, (), ""),
        (None, (NO_HEADINGS,), ""),
        ("Pets", (NO_HEADINGS,), "Pets"),
        ("Pets", ("Pets", "Cats"), "Pets > Cats"),
        ("All of it", ("Pets", "Cats"), "All of it > Pets > Cats"),
    ],
)
def test_the_breadcrumb_starts_with_the_title_once(title: str | None, path: tuple[str, ...], above: str) -> None:
    assert breadcrumb(chunk(1, "x", heading_path=path), title) == above


def test_the_embedded_text_is_returned_only_where_its_digest_matches() -> None:
    passage = chunk(1, "Cats purr.", heading_path=("Animals",))
    _, [entry] = run({}, [passage], title="Pets")
    assert embedded_text(passage, ("Another", "Pets"), ABOUT, "model/1", entry.hash) == "Pets > Animals\nCats purr."
    assert embedded_text(passage, ("Another", None), ABOUT, "model/1", entry.hash) is None
    assert embedded_text(passage, ("Pets",), ABOUT, "model/2", entry.hash) is None
