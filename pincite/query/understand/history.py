"""What was said before: the last turns of a stored session become the question's conversation."""

from dataclasses import replace

from pincite.core.query.question import Question
from pincite.core.run import Run
from pincite.errors import NotFound
from pincite.models.facts import facts_of
from pincite.query.prompt.budget import TURNS


async def history_lookup(run: Run, question: Question) -> Question:
    """Remember as many turns as the model can use; a conversation the caller sends along is taken instead."""
    if question.session_id is None and not question.conversation:
        return question
    tier = facts_of(run.model_of(question)).tier
    most = min(TURNS[tier], run.settings.conversation.max_history_turns)
    turns = question.conversation
    if question.session_id is not None:
        if run.kit.memory is None:
            raise NotFound(f"there is no session '{question.session_id}'")
        kept = await run.kit.memory.recent(run.scope, question.session_id, most)  # not found, whoever else's it is
        if not turns and run.settings.conversation.db_rehydration_enabled:
            turns = kept
    run.observe(turns=len(turns[-most:]) if most else 0)
    return replace(question, conversation=turns[-most:] if most else ())
