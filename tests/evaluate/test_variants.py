"""Configurations to compare."""

import pytest

from pincite.config.settings import Settings
from pincite.errors import Invalid
from pincite.evaluate.variants import UNCHANGED, read_variants

BASE = Settings()


def test_a_single_variant_is_compared_with_the_unchanged_settings() -> None:
    first, second = read_variants(["rag.alpha=.3"], BASE, {})
    assert (first.name, first.settings.rag.alpha) == (UNCHANGED, 0.5)
    assert (second.name, second.settings.rag.alpha) == ("rag.alpha=.3", 0.3)


def test_nothing_to_compare_is_one_variant_with_what_was_chosen() -> None:
    [only] = read_variants([], BASE, {"rag.top_k": "7"})
    assert only.settings.rag.top_k == 7


def test_several_settings_belong_together_by_commas_and_a_list_keeps_its_own() -> None:
    _, found = read_variants(["rag.alpha=.3, rag.fusion=rrf"], BASE, {})
    assert (found.settings.rag.alpha, found.settings.rag.fusion) == (0.3, "rrf")
    assert found.index == read_variants([], BASE, {})[0].index


def test_a_profile_brings_its_index_settings_and_gives_way_to_what_was_chosen() -> None:
    first, vexora = read_variants(["profile=default", "profile=vexora,rag.top_k=9"], BASE, {"rag.alpha": 0.9})
    assert (first.name, first.settings.rag.top_k) == ("profile=default", 10)
    assert (vexora.settings.rag.candidates, vexora.settings.rag.top_k, vexora.settings.rag.alpha) == (20, 9, 0.9)
    assert any("qwen3" in note for note in vexora.missing)


def test_what_acts_on_indexing_asks_for_an_index_of_its_own() -> None:
    small, large, words = read_variants(["chunking.size=100", "chunking.size=300", "rag.alpha=0"], BASE, {})
    assert len({small.index, large.index, words.index}) == 3


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (["alpha"], "needs profile=NAME or KEY=VALUE"),
        (["rag.alfa=1"], "no setting 'rag.alfa'"),
        (["rag.alpha=7"], "rag.alpha"),
        (["profile=nobody"], "no profile 'nobody'"),
        (["llm.api_key=x"], "secret"),
        (["server.port=1"], "cannot be compared"),
        (["rag.alpha=.3", "rag.alpha=.3"], "the same"),
    ],
)
def test_what_cannot_be_compared_is_refused(texts: list[str], told: str) -> None:
    with pytest.raises(Invalid, match=told):
        read_variants(texts, BASE, {})
