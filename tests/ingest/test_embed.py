import asyncio
from collections.abc import Sequence

from pincite.core.documents import Level
from pincite.ingest.embed import embed
from tests.builders import chunk

CHUNKS = [
    chunk(0, "all of it", level=Level.DOCUMENT),
    chunk(1, "Cats purr."),
    chunk(2, "| a | 1 |", header="| name | n |\n|---|---|"),
    chunk(3, "Cats purr."),
]


def run(known: dict[bytes, list[list[float]]]) -> tuple[list[tuple[str, str]], list]:  # type: ignore[type-arg]
    asked: list[tuple[str, str]] = []

    async def lane(passages: Sequence[tuple[str, str]]) -> list[list[list[float]]]:
        asked.extend(passages)
        return [[[1.0, 0.0]] for _ in passages]

    async def look_up(hashes: Sequence[bytes]) -> dict[bytes, list[list[float]]]:
        return {digest: known[digest] for digest in hashes if digest in known}

    return asked, asyncio.run(embed(CHUNKS, "model/1", look_up, lane))


def test_equal_text_is_embedded_once_and_wide_levels_not_at_all() -> None:
    asked, entries = run({})
    assert asked == [("", "Cats purr."), ("| name | n |\n|---|---|\n", "| a | 1 |")]
    assert [len(entry.windows) for entry in entries] == [0, 1, 1, 1]
    assert entries[1].hash == entries[3].hash != entries[2].hash
    assert entries[0].terms == {}


def test_a_table_is_found_by_the_words_of_its_header() -> None:
    _, entries = run({})
    assert {"name", "1"} <= set(entries[2].terms)
    assert entries[1].terms == {"cat": 1, "purr": 1}


def test_what_is_known_is_not_embedded_again() -> None:
    _, first = run({})
    asked, entries = run({first[1].hash: [[0.0, 1.0], [1.0, 0.0]]})
    assert [text for _, text in asked] == ["| a | 1 |"]
    assert entries[1].windows == [[0.0, 1.0], [1.0, 0.0]]
