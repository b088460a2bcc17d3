"""The values of the levels, and which level a question has."""

from typing import get_args

import pytest

from pincite.config.levels import LEVEL, find_level, levels
from pincite.config.schema import catalogue
from pincite.config.sources import load_settings, with_values
from pincite.core.query.question import EffortLevel, Question
from pincite.errors import Invalid
from pincite.query.understand.level import level_of
from pincite.tracing.replay import replayable


def test_levels_set_only_valid_request_settings() -> None:
    assert tuple(levels()) == get_args(EffortLevel)
    for name, row in levels().items():
        assert row.values[LEVEL] == name
        assert set(row.values) <= set(replayable())
        assert all(catalogue()[key].acts == "query" for key in row.values)
        with_values(load_settings(env={}), row.values)  # each value is valid


@pytest.mark.parametrize(
    ("level", "retrieval", "verification", "expansion", "model"),
    [
        ("basic", ("dense_only", False), (False, "rules"), False, ("off", False, False)),
        ("standard", ("hybrid", False), (True, "rules"), False, ("off", False, False)),
        ("enhanced", ("hybrid", False), (True, "model"), True, ("on", False, False)),
        ("maximum", ("fusion", True), (True, "model"), True, ("on", True, True)),
    ],
)
def test_each_level_has_its_documented_values(
    level: EffortLevel, retrieval: object, verification: object, expansion: bool, model: object
) -> None:
    settings = with_values(load_settings(env={}), find_level(level).values)
    rag, answers = settings.rag, settings.answers
    assert (rag.strategy, rag.second_look) == retrieval
    assert (rag.verification_enabled, rag.verification_by) == verification
    assert {rag.query_expansion_enabled, rag.hyde_enabled, rag.step_back_enabled} == {expansion}
    assert (answers.chain_of_thought, answers.ensemble_voting, answers.extended_thinking) == model


def test_the_standard_level_equals_the_default_settings() -> None:
    unset = load_settings(env={})
    assert with_values(unset, find_level("standard").values) == unset


def test_the_level_comes_from_the_request_then_the_setting() -> None:
    plain, set_higher = load_settings(env={}), load_settings({LEVEL: "enhanced"}, env={})
    assert level_of(Question("q"), plain) is None
    assert level_of(Question("q"), set_higher) == "enhanced"
    assert level_of(Question("q", intelligence_level="standard"), set_higher) == "standard"
    assert level_of(Question("q", intelligence_level="basic"), plain) == "basic"


def test_an_unknown_level_is_an_error_that_lists_all_levels() -> None:
    with pytest.raises(Invalid, match=r"no level 'maxi'.*basic, standard, enhanced, maximum"):
        find_level("maxi")


def test_the_graph_is_used_from_enhanced_on_and_all_engines_at_the_maximum() -> None:
    engines = ("knowledge_graph_enabled", "dual_level", "tree", "late_interaction")
    enabled = {name: tuple(find_level(name).values[f"rag.{one}"] for one in engines) for name in levels()}
    assert enabled == {
        "basic": (False,) * 4,
        "standard": (False,) * 4,
        "enhanced": (True, False, False, False),
        "maximum": (True,) * 4,
    }
