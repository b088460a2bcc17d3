"""The level of a question in words."""

from pincite.config.sources import load_settings
from pincite.core.query.question import Question
from pincite.query.understand.intent import read
from pincite.query.understand.level import effort_of, thinks_aloud

FACT, REASON = read("Who was Ada Byron?"), read("Why did it fail?")


def test_it_says_who_named_the_level_and_what_that_switches_on() -> None:
    plain = effort_of(Question("q"), load_settings(env={}), FACT, looks=True)
    assert (plain.decides, plain.told(FACT)) == (
        False,
        "level standard: the settings as they are; verification by rules",
    )
    asked = effort_of(Question("q", intelligence_level="standard"), load_settings(env={}), FACT, looks=True)
    assert (asked.decides, asked.because) == (True, "the request says so")
    values = {"answers.level": "maximum", "rag.second_look": True, "answers.ensemble_voting": True, "answers.drafts": 5}
    configured = effort_of(Question("q"), load_settings(values, env={}), FACT, looks=True)
    assert configured.told(FACT) == (
        "level maximum: answers.level says so; verification by rules, a second look, 5 drafts that vote"
    )


def test_what_would_serve_the_question_is_named_unless_it_is_done() -> None:
    off, on = (load_settings({"answers.chain_of_thought": how}, env={}) for how in ("off", "on"))
    assert "would be served by chain of thought, a graph" in effort_of(Question("q"), off, REASON, looks=True).told(
        REASON
    )
    assert (
        effort_of(Question("q"), on, REASON, looks=True)
        .told(REASON)
        .endswith("chain of thought; would be served by a graph")
    )


def test_reasoning_step_by_step_can_be_left_to_the_kind_of_question() -> None:
    wishes = {how: load_settings({"answers.chain_of_thought": how}, env={}) for how in ("off", "auto", "on")}
    assert [thinks_aloud(settings, FACT) for settings in wishes.values()] == [False, False, True]
    assert [thinks_aloud(settings, REASON) for settings in wishes.values()] == [False, True, True]


def test_only_what_is_done_is_said_to_be() -> None:
    values = {"answers.level": "maximum", "answers.ensemble_voting": True, "rag.verification_by": "model"}
    settings = load_settings(values, env={})
    assert effort_of(Question("hello"), settings, FACT, looks=False).done == ()
    steps = effort_of(Question("q", mode="agent"), settings, FACT, looks=True)
    assert steps.done == ("verification by rules",)
    assert steps.left_out == ("verification by the model", "3 drafts that vote")
    assert effort_of(Question("q", mode="agent"), load_settings(env={}), FACT, looks=True).left_out == ()
