"""The level of a question and its summary."""

from pincite.config.sources import load_settings
from pincite.core.query.question import Question
from pincite.query.understand.intent import analyse_question
from pincite.query.understand.level import summarize_level, uses_chain_of_thought

FACT, REASON = analyse_question("Who was Ada Byron?"), analyse_question("Why did it fail?")


def test_the_summary_names_who_chose_the_level_and_its_features() -> None:
    plain = summarize_level(Question("q"), load_settings(env={}), FACT, retrieval=True)
    assert (plain.is_chosen, plain.to_text(FACT)) == (
        False,
        "level standard: the settings as they are; verification by rules",
    )
    asked = summarize_level(Question("q", intelligence_level="standard"), load_settings(env={}), FACT, retrieval=True)
    assert (asked.is_chosen, asked.reason) == (True, "the request says so")
    values = {"answers.level": "maximum", "rag.second_look": True, "answers.ensemble_voting": True, "answers.drafts": 5}
    configured = summarize_level(Question("q"), load_settings(values, env={}), FACT, retrieval=True)
    assert configured.to_text(FACT) == (
        "level maximum: answers.level says so; verification by rules, second pass, 5 drafts that vote"
    )


def test_useful_features_are_named_unless_enabled() -> None:
    off, on = (load_settings({"answers.chain_of_thought": how}, env={}) for how in ("off", "on"))
    assert "would benefit from chain of thought, a graph" in summarize_level(
        Question("q"), off, REASON, retrieval=True
    ).to_text(REASON)
    assert (
        summarize_level(Question("q"), on, REASON, retrieval=True)
        .to_text(REASON)
        .endswith("chain of thought; would benefit from a graph")
    )


def test_reasoning_step_by_step_can_be_left_to_the_kind_of_question() -> None:
    wishes = {how: load_settings({"answers.chain_of_thought": how}, env={}) for how in ("off", "auto", "on")}
    assert [uses_chain_of_thought(settings, FACT) for settings in wishes.values()] == [False, False, True]
    assert [uses_chain_of_thought(settings, REASON) for settings in wishes.values()] == [False, True, True]


def test_only_features_in_use_are_listed() -> None:
    values = {"answers.level": "maximum", "answers.ensemble_voting": True, "rag.verification_by": "model"}
    settings = load_settings(values, env={})
    assert summarize_level(Question("hello"), settings, FACT, retrieval=False).features == ()
    steps = summarize_level(Question("q", mode="agent"), settings, FACT, retrieval=True)
    assert steps.features == ("verification by rules",)
    assert steps.left_out == ("verification by the model", "3 drafts that vote")
    assert summarize_level(Question("q", mode="agent"), load_settings(env={}), FACT, retrieval=True).left_out == ()
