"""How a model should think before it answers: step by step as the prompt asks, or for long by itself."""

from dataclasses import dataclass

from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.models.facts import ModelFacts
from pincite.query.prompt.budget import Budget
from pincite.query.understand.level import uses_chain_of_thought

MIN_THINKING_TOKENS = 1024
"""Tokens below which no model thinks for long."""
STEP_BY_STEP_DIVISOR = 4
"""Reasoning step by step gets this part of the tokens for thinking."""


@dataclass(frozen=True, slots=True)
class Thinking:
    """What a model does before it answers: `tokens` are those it may use for it; `aloud` is as the prompt asks."""

    aloud: bool = False
    tokens: int = 0

    @property
    def by_itself(self) -> int | None:
        """Tokens to think with where the model does that by itself; None where it is not asked to."""
        return self.tokens if self.tokens and not self.aloud else None


NO_THINKING = Thinking()


def thinking_for(run: Run, plan: Plan, facts: ModelFacts) -> Thinking:
    """As the settings of this request say, as far as the model can; what is left out is noted."""
    answers = run.settings.answers
    if run.kit.llm is run.kit.extractive:
        always = answers.chain_of_thought == "on"
        _degrade_missing_model(
            run, chain_of_thought=always, extended_thinking=answers.extended_thinking, ensemble=answers.ensemble_voting
        )
        return NO_THINKING
    if answers.extended_thinking:
        room = Budget.of(run.kit.llm.window, facts.tier).for_thinking(answers.thinking_tokens)
        if facts.thinking and room >= MIN_THINKING_TOKENS:
            return Thinking(tokens=room)
        model = run.model_of(plan.question)
        why = (
            f"the window of {model} has no room for it"
            if facts.thinking
            else f"{model} is not known to think by itself"
        )
        run.degrade("extended_thinking", f"{why}; it was left out")
    if uses_chain_of_thought(run.settings, plan.analysis) and facts.thinking != "always":
        return Thinking(aloud=True, tokens=answers.thinking_tokens // STEP_BY_STEP_DIVISOR)
    return NO_THINKING


def _degrade_missing_model(run: Run, **wished: bool) -> None:
    for stage, wish in wished.items():
        if wish:
            run.degrade(stage, "it takes a model, and none is configured (llm.*); it was left out")
