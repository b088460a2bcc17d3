"""Load the history of a session, and save its turns; a failure to save never fails the answer."""

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

log = logging.getLogger(__name__)

SAVE_TIMEOUT_S = 5.0
"""Timeout of an answer for saving its turn, in seconds; saving continues in the background."""


async def history_lookup(run: Run, question: Question) -> Question:
    """The question with the last turns of its session; a conversation that the caller sends takes precedence."""
    if question.session_id is None and not question.conversation:
        return question
    tier = facts_of(run.model_of(question)).tier
    max_turns = min(MAX_TURNS[tier], run.settings.conversation.max_history_turns)
    turns = question.conversation
    if question.session_id is not None:
        if run.kit.memory is None:
            raise NotFound(f"there is no session '{question.session_id}'")
        # `NotFound` is also raised for a session of another user.
        saved = await run.kit.memory.recent(run.scope, question.session_id, max_turns, before=question.replaces)
        if not turns and run.settings.conversation.db_rehydration_enabled:
            turns = saved
    run.observe(turns=len(turns[-max_turns:]) if max_turns else 0)
    return replace(question, conversation=turns[-max_turns:] if max_turns else ())


async def history_saving(run: Run, plan: Plan, answer: Answer) -> Answer:
    """Save the turn where there is a session, and emit the final answer."""
    question = plan.question
    answer = replace(answer, session_id=question.session_id)
    if question.session_id is not None:
        saved = replace(answer, metadata=replace(answer.metadata, steps=()))  # the steps are not saved
        turn = KeptTurn(
            question.text,
            plan.text,
            answer.text,
            saved,
            incomplete_reason(answer.metadata.finish_reason) is None,
            run.id,
            tuple(dict.fromkeys(source.document_id for source in answer.sources)),
            replaces=question.replaces,
        )
        await _save_turn(run, question.session_id, turn)
    answer = replace(answer, degraded=tuple(run.degraded))
    run.emit(Answered(answer))
    return answer


async def _save_turn(run: Run, session_id: str, turn: KeptTurn) -> None:
    """Save a turn; errors are reported as degradations, and saving continues after the timeout."""
    try:
        assert run.kit.memory is not None  # history_lookup refuses a session without a memory
        async with asyncio.timeout(SAVE_TIMEOUT_S):
            await run.kit.memory.save_turn(run.scope, session_id, turn, run.turn)
    except TimeoutError:
        run.degrade("history_saving", "this turn may be missing from the history: the database took too long")
    except PinciteError as error:
        run.degrade("history_saving", f"this turn is not in the history: {error}")
    except Exception:
        log.exception("a turn of run %s was not saved", run.id)
        run.degrade("history_saving", "this turn is not in the history: it could not be written")


async def _begin_turn(run: Run, session_id: str, question: str) -> None:
    """Store the question before its answer; on failure it is saved with the answer, which reports a second failure."""
    try:
        assert run.kit.memory is not None
        async with asyncio.timeout(SAVE_TIMEOUT_S):
            run.turn = await run.kit.memory.begin_turn(run.scope, session_id, question, run.id)
    except (PinciteError, TimeoutError) as error:
        log.debug("the question of run %s is saved only with its answer: %s", run.id, error)


async def _drop_turn(run: Run, session_id: str) -> None:
    """Remove the turn of a refused question; a failure is logged, so that it does not hide the refusal."""
    try:
        if run.turn is not None and run.kit.memory is not None:
            await run.kit.memory.drop_turn(run.scope, session_id, run.turn)
    except PinciteError as error:
        log.warning("the refused question of run %s is still in its session: %s", run.id, error)


@asynccontextmanager
async def saved_if_interrupted(run: Run, question: Question) -> AsyncIterator[None]:
    """Save a question before its answer; if it ends without one, save an incomplete turn with the text streamed so far.

    A turn that is to be replaced stays as it is until its new answer is complete.
    """
    if question.session_id is not None and not question.replaces:
        await _begin_turn(run, question.session_id, question.text)
    streamed: list[str] = []
    documents: dict[str, None] = {}
    emit = run.emit

    def record(event: Event) -> None:
        if isinstance(event, Token):
            streamed.append(event.text)
        elif isinstance(event, SourcesFound):
            documents.update(dict.fromkeys(source.document_id for source in event.sources))
        emit(event)

    run.emit = record
    try:
        yield
    except BaseException as error:
        if question.session_id is not None and isinstance(error, BadRequest):  # a refused question is not saved
            await _drop_turn(run, question.session_id)
        elif question.session_id is not None and not question.replaces:  # a turn that was to be replaced stays
            incomplete = KeptTurn(
                question.text, question.text, "".join(streamed), None, False, run.id, tuple(documents)
            )
            await _save_turn(run, question.session_id, incomplete)
        raise
    finally:
        run.emit = emit
