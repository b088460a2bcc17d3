"""Libraries made for the occasion."""

import asyncio
from pathlib import Path

import pytest

from pincite.config.settings import Settings
from pincite.errors import Invalid
from pincite.evaluate.temporary_library import DONE_FILE, Corpus, temporary_library
from pincite.evaluate.variants import read_variants

[VARIANT] = read_variants(
    [], Settings.model_validate({"embedding": {"provider": "scripted"}, "ingest": {"workers": 1}}), {}
)


@pytest.mark.slow
def test_what_cannot_be_taken_in_is_told_each_time_and_nothing_stays_of_a_passing_library(tmp_path: Path) -> None:
    corpus = Corpus("some", {"0.md": "Cats purr all day.\n", "1.md": " \n"}, "f")

    async def opened(keep: Path | None) -> tuple[Path, tuple[str, ...], int]:
        async with temporary_library(corpus, VARIANT, keep=keep, report=lambda _p: None) as (pincite, left_out):
            return pincite.settings.data, left_out, len(await pincite.documents.all())

    place, left_out, documents = asyncio.run(opened(None))
    assert documents == 1
    assert "1.md" in left_out[0]
    assert not place.exists()
    kept, first, _ = asyncio.run(opened(tmp_path))
    assert (kept / DONE_FILE).exists()
    assert asyncio.run(opened(tmp_path)) == (kept, first, 1)


@pytest.mark.slow
def test_a_set_of_which_nothing_can_be_read_is_refused(tmp_path: Path) -> None:
    async def opened() -> None:
        async with temporary_library(Corpus("none", {"0.md": " \n"}, "f"), VARIANT, keep=None, report=lambda _p: None):
            raise AssertionError("there is nothing in it")

    with pytest.raises(Invalid, match="no document of the set"):
        asyncio.run(opened())
