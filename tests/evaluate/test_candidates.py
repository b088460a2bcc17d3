"""The changes that tuning tries."""

import pytest

from pincite.config.settings import Settings
from pincite.errors import Invalid
from pincite.evaluate.candidates import make_candidates

BASE = Settings()


def names(*args: object, **kwargs: object) -> list[str]:
    return [one.name for one in make_candidates(*args, **kwargs)]  # type: ignore[arg-type]


def test_each_candidate_changes_the_current_settings() -> None:
    found = make_candidates(BASE, "search")
    assert len(found) > 10
    assert len({one.name for one in found}) == len(found)
    assert all(one.variant.settings != BASE for one in found)
    assert "rag.alpha=0.0" in [one.name for one in found]
    assert "spelling.enabled=false" in [one.name for one in found]
    changed = Settings.model_validate({"rag": {"alpha": 0.0}})
    assert "rag.alpha=0.0" not in names(changed, "search")


def test_levels_and_models_are_tried_for_answers_only() -> None:
    assert not any(name.startswith("answers.level") for name in names(BASE, "search"))
    assert [name for name in names(BASE, "answers") if name.startswith("answers.level")] == ["answers.level=basic"]
    levels = [name for name in names(BASE, "answers", has_model=True) if name.startswith("answers.level")]
    assert levels == ["answers.level=basic", "answers.level=enhanced", "answers.level=maximum"]
    two = Settings.model_validate({"llm": {"base_url": "http://m", "fallback": {"model": "small"}}})
    assert "llm.model=small" in names(two, "answers", has_model=True)


def test_a_reranker_with_a_model_is_tried() -> None:
    assert "rag.reranker=cross_encoder" in names(Settings.model_validate({"rerank": {"path": "x"}}), "search")


def test_further_changes_are_checked() -> None:
    assert names(BASE, "search", extra=["rag.top_k=7,rag.alpha=.1"], only_extra=True) == ["rag.top_k=7,rag.alpha=.1"]
    for text, told in (
        ("chunking.size=90", "affects indexing"),
        ("rag.alfa=1", "no setting 'rag.alfa'"),
        ("llm.base_url=http://x", "not a setting that tuning can change"),
        ("rag.top_k=10", "nothing to try"),
    ):
        with pytest.raises(Invalid, match=told):
            make_candidates(BASE, "search", extra=[text], only_extra=True)
