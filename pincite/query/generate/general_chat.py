"""The prompt for messages that are answered without documents."""

from pincite.core.query.plan import Plan
from pincite.core.query.prompt import Message, Prompt
from pincite.core.run import Run, SourcesFound
from pincite.errors import Invalid
from pincite.models.facts import facts_of
from pincite.query.generate.assemble import history_messages, sampling_of
from pincite.query.prompt.budget import TOKENS_PER_MESSAGE, Budget, tokenizer, window_of
from pincite.query.prompt.templates import Prompts


async def general_prompt(run: Run, plan: Plan) -> Prompt | None:
    """The prompt: instructions, history and message; None where no model is configured."""
    run.emit(SourcesFound(()))
    llm, question = run.kit.llm, plan.question
    general = question.mode != "chat"
    if llm is run.kit.extractive:
        if question.mode == "general":
            run.degrade("general_prompt", "this mode needs a language model, and none is configured (llm.*)")
        return None
    window = window_of(run, question)
    budget = Budget.of(window, facts_of(run.model_of(question)).tier)
    count, name = tokenizer(run.settings.chunking.tokenizer).count, run.settings.chunking.tokenizer
    system = "\n\n".join(
        filter(None, (question.sampling.system_prompt, Prompts.of(run).get("general" if general else "talk").text))
    )
    ends = [Message("system", system), Message("user", question.text)]
    fixed_tokens = sum(count(message.content) + TOKENS_PER_MESSAGE for message in ends)
    if fixed_tokens > budget.system + budget.sources:
        raise Invalid(
            "message and system prompt together are too long for this model: "
            "shorten them, or use a model with a larger window",
            code="system_prompt_too_long",
        )
    history, history_tokens = history_messages(question.conversation, budget.history, name)
    run.observe(turns=len(history) // 2, tokens=fixed_tokens + history_tokens, window=window)
    return Prompt(
        plan.text,
        (ends[0], *history, ends[1]),
        (),
        fixed_tokens + history_tokens,
        sampling_of(question, budget, run=run),
    )
