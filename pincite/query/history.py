"""The turn goes into the history; a failure here never fails the answer."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from pincite.core.accounts.conversations import KeptTurn
from pincite.core.query.answer import Answer
from pincite.core.query.plan import Plan
from pincite.core.query.question import Question
from pincite.core.run import Answered, Event, Run, SourcesFound, Token
from pincite.errors import BadRequest, NotFound, PinciteError
from pincite.models.facts import facts_of
from pincite.query.ground.ground import incomplete_reason
from pincite.query.prompt.budget import MAX_TURNS


async def history_lookup(run: Run, question: Question) -> Question:
    """Remember as many turns as the model can use; a conversation the caller sends along is taken instead."""
    if question.session_id is None and not question.conversation:
        return question
    tier = facts_of(run.model_of(question)).tier
    most = min(MAX_TURNS[tier], run.settings.conversation.max_history_turns)
    turns = question.conversation
    if question.session_id is not None:
        if run.kit.memory is None:
            raise NotFound(f"there is no session '{question.session_id}'")
        kept = await run.kit.memory.recent(run.scope, question.session_id, most)  # not found, whoever else's it is
        if not turns and run.settings.conversation.db_rehydration_enabled:
            turns = kept
    run.observe(turns=len(turns[-most:]) if most else 0)
    return replace(question, conversation=turns[-most:] if most else ())


log = logging.getLogger(__name__)

SAVE_TIMEOUT_S = 5.0
"""An answer does not wait longer for its place in the history; writing it goes on."""


async def history_saving(run: Run, plan: Plan, answer: Answer) -> Answer:
    """Keep the turn where there is a session, and tell the listener the answer as it now is."""
    question = plan.question
    answer = replace(answer, session_id=question.session_id)
    if question.session_id is not None:
        kept = replace(answer, metadata=replace(answer.metadata, steps=()))  # what was searched for is no part of it
        turn = KeptTurn(
            question.text, plan.text, answer.text, kept, incomplete_reason(answer.metadata.finish_reason) is None, run.id,
            tuple(dict.fromkeys(source.document_id for source in answer.sources)),
        )  # fmt: skip
        await _save_turn(run, question.session_id, turn)
    answer = replace(answer, degraded=tuple(run.degraded))
    run.emit(Answered(answer))
    return answer


async def _save_turn(run: Run, session_id: str, turn: KeptTurn) -> None:
    """What fails here must not hide how the question ended; the memory writes on even if nobody waits any more."""
    try:
        assert run.kit.memory is not None  # recall refuses a session where there is none
        async with asyncio.timeout(SAVE_TIMEOUT_S):
            await run.kit.memory.keep(run.scope, session_id, turn)
    except TimeoutError:
        run.degrade("history_saving", "this turn may be missing from the history: the database takes its time")
    except PinciteError as error:
        run.degrade("history_saving", f"this turn is not in the history: {error}")
    except Exception:
        log.exception("a turn of run %s was not kept", run.id)
        run.degrade("history_saving", "this turn is not in the history: it could not be written")


@asynccontextmanager
async def saved_if_interrupted(run: Run, question: Question) -> AsyncIterator[None]:
    """However a question ends, it is not forgotten: one without an answer is kept as cut, with what was said so far."""
    said: list[str] = []
    documents: dict[str, None] = {}
    tell = run.emit

    def hear(event: Event) -> None:
        if isinstance(event, Token):
            said.append(event.text)
        elif isinstance(event, SourcesFound):
            documents.update(dict.fromkeys(source.document_id for source in event.sources))
        tell(event)

    run.emit = hear
    try:
        yield
    except BaseException as error:
        if question.session_id is not None and not isinstance(error, BadRequest):  # what was refused was never asked
            cut = KeptTurn(question.text, question.text, "".join(said), None, False, run.id, tuple(documents))
            await _save_turn(run, question.session_id, cut)
        raise
    finally:
        run.emit = tell
