"""How a model reasons before it answers: step by step as the prompt asks, or by its own extended thinking."""

from dataclasses import dataclass

from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.models.facts import ModelFacts
from pincite.query.prompt.budget import Budget, window_of
from pincite.query.understand.level import uses_chain_of_thought

MIN_THINKING_TOKENS = 1024
"""Minimum tokens for extended thinking."""
STEP_BY_STEP_DIVISOR = 4
"""Reasoning step by step gets the tokens for thinking divided by this."""


@dataclass(frozen=True, slots=True)
class Thinking:
    """The reasoning before an answer: `tokens` is its budget; with `step_by_step`, the prompt asks for it."""

    step_by_step: bool = False
    tokens: int = 0

    @property
    def extended_tokens(self) -> int | None:
        """Tokens for extended thinking; None where it is not used."""
        return self.tokens if self.tokens and not self.step_by_step else None


NO_THINKING = Thinking()


def thinking_for(run: Run, plan: Plan, facts: ModelFacts) -> Thinking:
    """The reasoning that the settings ask for and the model supports; the rest is reported as a degradation."""
    answers = run.settings.answers
    if run.kit.llm is run.kit.extractive:
        always = answers.chain_of_thought == "on"
        _degrade_missing_model(
            run, chain_of_thought=always, extended_thinking=answers.extended_thinking, ensemble=answers.ensemble_voting
        )
        return NO_THINKING
    if answers.extended_thinking:
        tokens_available = Budget.of(window_of(run, plan.question), facts.tier).for_thinking(answers.thinking_tokens)
        if facts.thinking and tokens_available >= MIN_THINKING_TOKENS:
            return Thinking(tokens=tokens_available)
        model = run.model_of(plan.question)
        why = (
            f"the context window of {model} has no room for it"
            if facts.thinking
            else f"{model} is not known to think by itself"
        )
        run.degrade("extended_thinking", f"{why}; it was left out")
    if uses_chain_of_thought(run.settings, plan.analysis) and facts.thinking != "always":
        return Thinking(step_by_step=True, tokens=answers.thinking_tokens // STEP_BY_STEP_DIVISOR)
    return NO_THINKING


def _degrade_missing_model(run: Run, **requested: bool) -> None:
    for stage, is_requested in requested.items():
        if is_requested:
            run.degrade(stage, "it needs a language model, and none is configured (llm.*); it was left out")
