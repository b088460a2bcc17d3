"""Semantic chunking."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.config.branches.ingestion import Chunking
from pincite.core.documents.document import Chunk, ChunkLevel, Parsed
from pincite.errors import ProviderError
from pincite.ingest.chunk.sections import sections
from pincite.ingest.chunk.semantic import semantic_chunks, sentence_runs, topic_changes
from pincite.text.tokens import Tokenizer

TOKENIZER = Tokenizer()
CHUNKING = Chunking(strategy="semantic", size=60)
CATS = ["Cats purr when they are content. ", "A cat sleeps most of the day. ", "Cats hunt mice at dusk. "]
SHIPS = ["Ships carry grain over the sea. ", "A ship needs a crew of twenty. ", "Ships are built of steel. "]
TABLE = "| port | ships |\n|---|---|\n| Kiel | 12 |\n| Bremen | 7 |"


async def by_subject(passages: Sequence[tuple[str, str]]) -> list[list[list[float]]]:
    """Orthogonal vectors for two topics."""
    return [[[0.0, 1.0]] if "hip" in text else [[1.0, 0.0]] for _, text in passages]


def rows(text: str, chunking: Chunking = CHUNKING, markup: str = "markdown") -> list[Chunk]:
    parsed = Parsed(text, markup)  # type: ignore[arg-type]
    parts = sections(parsed)
    found = sentence_runs(parsed, parts, chunking, TOKENIZER)
    turns = asyncio.run(topic_changes(text, found, chunking.breakpoint_percentile, by_subject))
    return semantic_chunks(parsed, parts, chunking, TOKENIZER, turns)


def passages(text: str, chunking: Chunking = CHUNKING) -> list[str]:
    return [row.text for row in rows(text, chunking) if row.level is ChunkLevel.CHUNK]


def test_a_passage_ends_at_a_topic_change():
    assert passages("".join(CATS + SHIPS)) == ["".join(CATS).strip(), "".join(SHIPS).strip()]


def test_a_text_of_one_topic_is_cut_only_at_the_size_limit():
    found = passages("".join(CATS * 6))
    assert len(found) > 1
    assert all(TOKENIZER.count(text) <= CHUNKING.size for text in found)
    assert all(TOKENIZER.count(text) > CHUNKING.size - 15 for text in found[:-1])


def test_a_table_is_its_own_passage_and_repeats_its_header_when_split():
    assert passages(f"{CATS[0]}\n\n{TABLE}\n\n{CATS[1]}") == [CATS[0].strip(), TABLE, CATS[1].strip()]
    long = TABLE + "".join(f"\n| Port {n} | {n} |" for n in range(20))
    found = [row for row in rows(long) if row.level is ChunkLevel.CHUNK]
    assert len(found) > 1
    assert all(row.header == "| port | ships |\n|---|---|" for row in found[1:])
    assert {row.content_type for row in found} == {"table"}


def test_a_heading_stays_with_what_follows_it():
    assert passages(f"# Pets\n\n{CATS[0]}\n\n## Ports\n\n{SHIPS[0]}") == [
        f"# Pets\n\n{CATS[0].strip()}",
        f"## Ports\n\n{SHIPS[0].strip()}",
    ]


def test_a_single_sentence_is_no_topic():
    text = CATS[0] + "Ships! " + CATS[1]
    assert passages(text, CHUNKING.model_copy(update={"size": 200, "breakpoint_percentile": 50})) == [text.strip()]


def test_an_error_of_the_embedder_is_raised():
    async def broken(_passages: Sequence[tuple[str, str]]) -> list[list[list[float]]]:
        raise ProviderError("the embedder is down")

    with pytest.raises(ProviderError, match="down"):
        asyncio.run(topic_changes("A. B.", [((0, 2), (3, 5))], 95, broken))


def test_without_spans_there_are_no_topic_changes():
    assert asyncio.run(topic_changes("A.", [((0, 2),)], 95, by_subject)) == []


@given(
    text=st.lists(
        st.sampled_from(
            [*CATS, *SHIPS, "\n\n", "\n# Ship\n\n", f"\n\n{TABLE}\n\n", "\n- item\n", "\n```\nx = 1\n```\n", "é "]
        )
    ).map("".join),
    size=st.integers(20, 80),
    percentile=st.sampled_from([50.0, 80.0, 95.0]),
)
def test_every_passage_is_a_slice_and_together_they_hold_all_but_white_space(text: str, size: int, percentile: float):
    found = rows(text, Chunking(strategy="semantic", size=size, breakpoint_percentile=percentile))
    covered: set[int] = set()
    for number, row in enumerate(found):
        assert (row.ordinal, row.text) == (number, text[row.start : row.end])
        assert row.start_line == text.count("\n", 0, row.start) + 1
        if row.level is ChunkLevel.CHUNK:
            parent = found[row.parent or 0]
            assert parent.level is ChunkLevel.SECTION
            assert parent.start <= row.start < row.end <= parent.end
            assert not covered & set(range(row.start, row.end))
            covered |= set(range(row.start, row.end))
    assert {at for at, char in enumerate(text) if not char.isspace()} <= covered
