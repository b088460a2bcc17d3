"""Evaluations of search and answers on the user's own documents, run in the background one at a time."""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import Field, model_validator
from starlette.responses import JSONResponse

from pincite.api.dependencies import Engine, Writer
from pincite.api.paths import API
from pincite.config.settings import Settings
from pincite.core.accounts.access import Caller, Scope
from pincite.core.evaluations import Evaluation, EvaluationSet, MadeBy
from pincite.engine.app import AsyncPincite
from pincite.errors import Conflict, Invalid, NotFound, PinciteError
from pincite.evaluate.questions.answer_sets import parse_questions
from pincite.evaluate.questions.labels import mark_passages as mark
from pincite.evaluate.questions.own_documents import EvalRequest, begin, make_set, run_set, settings_to_try
from pincite.serialize.evaluations import evaluation_json, evaluation_set_json, set_items_json
from pincite.serialize.fields import Body, Name
from pincite.serialize.primitives import Json, page_json

log = logging.getLogger(__name__)

router = APIRouter(prefix=API, tags=["evaluations"])


class EvaluationBody(Body):
    """The question set to run, or options of a new one; `profile` and `settings` to try, of which settings win."""

    set_id: Annotated[Name | None, Field(max_length=100)] = None
    renew: bool = False
    questions: int = Field(default=200, ge=1, le=1000)
    seed: int = Field(default=0, ge=0, le=2**31)
    by: MadeBy | None = None
    profile: Annotated[Name | None, Field(max_length=100)] = None
    settings: dict[Name, Any] = Field(default={}, max_length=100)

    @model_validator(mode="after")
    def _one_set(self) -> "EvaluationBody":
        if self.renew and self.set_id is not None:
            raise ValueError("send either set_id or renew: true")
        return self


class MarkBody(Body):
    """A question and the chunk ids of the passages that answer it."""

    text: Annotated[Name, Field(min_length=1, max_length=2000)]
    chunk_ids: Annotated[list[Annotated[Name, Field(max_length=300)]], Field(max_length=50)]


class SetBody(Body):
    """Questions with expected answers to import; each is checked by the importer. Without questions, the set is empty."""

    questions: Annotated[list[dict[Name, Any]] | None, Field(min_length=1, max_length=1000)] = None


class BackgroundEvaluation:
    """The evaluation that runs in this process, if any."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()

    async def start(self, pincite: AsyncPincite, body: EvaluationBody, caller: Caller) -> Evaluation:
        """Record a run and start it in the background; raise `Conflict` while another one runs."""
        settings = settings_to_try(pincite.settings, body.settings, body.profile)
        chosen = None if body.renew else await _chosen_set(pincite, body, caller)
        eval_request = EvalRequest(body.questions, body.seed, body.by)
        async with self.only_one():
            run = await begin(pincite, chosen, settings, caller=caller)
            self.run(_run(pincite, run, chosen, eval_request, settings, caller))
        return run

    @asynccontextmanager
    async def only_one(self) -> AsyncIterator[None]:
        """Start one evaluation or tuning at a time; raise `Conflict` while another one runs."""
        async with self._starting:
            if self._task is not None and not self._task.done():
                raise Conflict("another evaluation is running; wait until it ends", code="evaluation_running")
            yield

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run an evaluation or a tuning in the background."""
        self._task = asyncio.create_task(work)

    async def close(self) -> None:
        """Cancel the running evaluation; it is stored as interrupted."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)


async def _chosen_set(pincite: AsyncPincite, body: EvaluationBody, caller: Caller) -> EvaluationSet | None:
    """The requested set, or the newest; None if there is no set yet."""
    try:
        return await pincite.questions.evaluations.get_set(await pincite.scope(caller), body.set_id)
    except NotFound:
        if body.set_id is not None:
            raise
        return None


async def _run(
    pincite: AsyncPincite,
    run: Evaluation,
    chosen: EvaluationSet | None,
    eval_request: EvalRequest,
    settings: Settings,
    caller: Caller,
) -> None:
    """Make the question set if there is none, run it, and store the outcome."""
    scope = await pincite.scope(caller)
    try:
        if chosen is None:
            chosen, notes = await make_set(pincite, eval_request, caller=caller, report=lambda _progress: None)
            await pincite.questions.evaluations.attach(scope, run.id, chosen.id)
            for note in notes:
                log.warning("making a question set: %s", note)
        await run_set(pincite, chosen, settings, caller=caller, report=lambda _progress: None, begun=run)
    except PinciteError as error:
        log.warning("the evaluation %s failed: %s", run.id, error)
        await pincite.questions.evaluations.fail(scope, run.id, str(error))
    except Exception:
        log.exception("the evaluation %s failed with an unexpected error", run.id)
        await pincite.questions.evaluations.fail(
            scope, run.id, "an unexpected error occurred; the server's log has the details"
        )


@router.post("/evaluations", status_code=202)
async def evaluate(
    request: Request, pincite: Engine, caller: Writer, body: EvaluationBody | None = None
) -> JSONResponse:
    """Run a question set of the caller's documents in the background; if there is none, make one first."""
    evaluation: BackgroundEvaluation = request.app.state.evaluation
    run = await evaluation.start(pincite, body or EvaluationBody(), caller)
    return JSONResponse({"evaluation": evaluation_json(run, ranks=False)}, 202)


@router.get("/evaluations")
async def evaluations(
    pincite: Engine,
    caller: Writer,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
) -> JSONResponse:
    """List runs, newest first, without the ranks of their questions."""
    found, following = await pincite.questions.evaluations.list(await pincite.scope(caller), limit, cursor)
    return JSONResponse(page_json([evaluation_json(one, ranks=False) for one in found], following))


@router.get("/evaluations/{evaluation_id}")
async def evaluation(
    evaluation_id: str,
    pincite: Engine,
    caller: Writer,
    against: Annotated[str | None, Query(max_length=100)] = None,
) -> JSONResponse:
    """Show one run: its progress or measures, the rank or verdict of each question, and the change since the last run.

    `against` names another run of the same set to compare with.
    """
    scope = await pincite.scope(caller)
    found = await pincite.questions.evaluations.get(scope, evaluation_id)
    before = (
        await pincite.questions.evaluations.get(scope, against) if against else await _before(pincite, scope, found)
    )
    if before is not None and before.set_id != found.set_id:
        raise Invalid("against: this run used another set; only runs of the same set can be compared")
    return JSONResponse(evaluation_json(found, ranks=True, before=before))


async def _before(pincite: AsyncPincite, scope: Scope, run: Evaluation) -> Evaluation | None:
    return await pincite.questions.evaluations.previous_run(scope, run) if run.set_id else None


@router.post("/evaluation-sets", status_code=201)
async def make(pincite: Engine, caller: Writer, body: SetBody | None = None) -> JSONResponse:
    """Import questions with expected answers; without any, create an empty set, to be filled by marking."""
    scope = await pincite.scope(caller)
    if body is not None and body.questions is not None:
        made = await pincite.questions.evaluations.import_set(scope, parse_questions(body.questions))
    else:
        made = await pincite.questions.evaluations.keep_set(scope, "hand", 0, [])
    return JSONResponse(evaluation_set_json(made), 201)


@router.put("/evaluation-sets/{set_id}/questions")
async def mark_passages(set_id: str, body: MarkBody, pincite: Engine, caller: Writer) -> JSONResponse:
    """Store a question with the passages that answer it in a manual set; without passages, remove it."""
    changed = await mark(pincite, set_id, body.text, body.chunk_ids, caller=caller)
    return JSONResponse(_with_questions(changed))


@router.get("/evaluation-sets")
async def sets(pincite: Engine, caller: Writer) -> JSONResponse:
    """List the caller's question sets, newest first, without their questions."""
    found = await pincite.questions.evaluations.list_sets(await pincite.scope(caller))
    return JSONResponse(page_json([evaluation_set_json(one) for one in found]))


@router.get("/evaluation-sets/{set_id}")
async def questions(set_id: str, pincite: Engine, caller: Writer) -> JSONResponse:
    """Show one set with its questions and the places or strings that answer them."""
    found = await pincite.questions.evaluations.get_set(await pincite.scope(caller), set_id)
    return JSONResponse(_with_questions(found))


def _with_questions(found: EvaluationSet) -> Json:
    return evaluation_set_json(found) | {"items": set_items_json(found)}


@router.delete("/evaluation-sets/{set_id}")
async def remove(set_id: str, pincite: Engine, caller: Writer) -> JSONResponse:
    """Remove a set, its questions and all its runs."""
    await pincite.questions.evaluations.remove_set(await pincite.scope(caller), set_id)
    return JSONResponse({"id": set_id, "removed": True})
