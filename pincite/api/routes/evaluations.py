"""Evaluations: how good search is on one's own documents, measured in the background, one at a time."""

import asyncio
import logging
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import Field, model_validator
from starlette.responses import JSONResponse

from pincite.api.dependencies import Engine
from pincite.api.middleware.authenticate import Writer
from pincite.api.paths import API
from pincite.config.settings import Settings
from pincite.core.accounts.access import Caller, Scope
from pincite.core.evaluations import Evaluation, EvaluationSet, MadeBy
from pincite.engine.app import AsyncPincite
from pincite.errors import Conflict, Invalid, NotFound, PinciteError
from pincite.evaluate.questions.labels import mark_passages as mark
from pincite.evaluate.questions.own_documents import EvalRequest, begin, make_set, run_set, settings_to_try
from pincite.serialize import evaluations as shapes
from pincite.serialize.fields import Body, Name

log = logging.getLogger(__name__)

router = APIRouter(prefix=API, tags=["evaluations"])


class EvaluationBody(Body):
    """Which set to ask, or what new one to make, and what to try: a profile, and settings by dotted key, which win."""

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
    """A question and the passages that answer it, by the ids that searches give them."""

    text: Annotated[Name, Field(min_length=1, max_length=2000)]
    chunk_ids: Annotated[list[Annotated[Name, Field(max_length=300)]], Field(max_length=50)]


class Evaluating:
    """The evaluation that this process is busy with, if any."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()

    async def start(self, pincite: AsyncPincite, body: EvaluationBody, caller: Caller) -> Evaluation:
        """Announce a run and begin with it; a second one while it lasts is refused."""
        settings = settings_to_try(pincite.settings, body.settings, body.profile)
        chosen = None if body.renew else await _known(pincite, body, caller)
        async with self._starting:
            if self._task is not None and not self._task.done():
                raise Conflict("an evaluation is running already; wait for its end", code="evaluation_running")
            run = await begin(pincite, chosen, settings, caller=caller)
            wish = EvalRequest(body.questions, body.seed, body.by)
            self._task = asyncio.create_task(_run(pincite, run, chosen, wish, settings, caller))
        return run

    async def close(self) -> None:
        """Stop what is running; it is kept as interrupted."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)


async def _known(pincite: AsyncPincite, body: EvaluationBody, caller: Caller) -> EvaluationSet | None:
    """The set that is meant, the newest unless named; None where there is none yet."""
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
    wish: EvalRequest,
    settings: Settings,
    caller: Caller,
) -> None:
    """Make the questions where there are none, ask them, and keep how it ended."""
    scope = await pincite.scope(caller)
    try:
        if chosen is None:
            chosen, notes = await make_set(pincite, wish, caller=caller, report=lambda _progress: None)
            await pincite.questions.evaluations.attach(scope, run.id, chosen.id)
            for note in notes:
                log.warning("making a question set: %s", note)
        await run_set(pincite, chosen, settings, caller=caller, report=lambda _progress: None, begun=run)
    except PinciteError as error:
        log.warning("the evaluation %s failed: %s", run.id, error)
        await pincite.questions.evaluations.fail(scope, run.id, str(error))
    except Exception:
        log.exception("the evaluation %s failed in an unforeseen way", run.id)
        await pincite.questions.evaluations.fail(
            scope, run.id, "something unforeseen happened; the server's log tells more"
        )


@router.post("/evaluations", status_code=202)
async def evaluate(
    request: Request, pincite: Engine, caller: Writer, body: EvaluationBody | None = None
) -> JSONResponse:
    """Ask a set made from one's own documents, in the background; without one it is made first."""
    evaluating: Evaluating = request.app.state.evaluating
    run = await evaluating.start(pincite, body or EvaluationBody(), caller)
    return JSONResponse({"evaluation": shapes.evaluation(run, ranks=False)}, 202)


@router.get("/evaluations")
async def evaluations(
    pincite: Engine,
    caller: Writer,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
) -> JSONResponse:
    """Runs, newest first, without the ranks of their questions."""
    found, following = await pincite.questions.evaluations.list(await pincite.scope(caller), limit, cursor)
    return JSONResponse(shapes.page([shapes.evaluation(one, ranks=False) for one in found], following))


@router.get("/evaluations/{evaluation_id}")
async def evaluation(
    evaluation_id: str,
    pincite: Engine,
    caller: Writer,
    against: Annotated[str | None, Query(max_length=100)] = None,
) -> JSONResponse:
    """One run: its progress or its figures, the rank of each question, and what changed since the run before.

    `against` names another run of the same set to be compared with instead.
    """
    scope = await pincite.scope(caller)
    found = await pincite.questions.evaluations.get(scope, evaluation_id)
    before = (
        await pincite.questions.evaluations.get(scope, against) if against else await _before(pincite, scope, found)
    )
    if before is not None and before.set_id != found.set_id:
        raise Invalid("against: that is a run of another set; only runs of one set can be compared")
    return JSONResponse(shapes.evaluation(found, ranks=True, before=before))


async def _before(pincite: AsyncPincite, scope: Scope, run: Evaluation) -> Evaluation | None:
    return await pincite.questions.evaluations.before(scope, run) if run.set_id else None


@router.post("/evaluation-sets", status_code=201)
async def make(pincite: Engine, caller: Writer) -> JSONResponse:
    """Begin a set made by hand; it is empty until passages are marked."""
    made = await pincite.questions.evaluations.keep_set(await pincite.scope(caller), "hand", 0, [])
    return JSONResponse(shapes.evaluation_set(made), 201)


@router.put("/evaluation-sets/{set_id}/questions")
async def mark_passages(set_id: str, body: MarkBody, pincite: Engine, caller: Writer) -> JSONResponse:
    """Keep a question with the passages that answer it, in a set made by hand; without any it is taken out."""
    changed = await mark(pincite, set_id, body.text, body.chunk_ids, caller=caller)
    return JSONResponse(_with_questions(changed))


@router.get("/evaluation-sets")
async def sets(pincite: Engine, caller: Writer) -> JSONResponse:
    """The sets made from one's own documents, newest first, without their questions."""
    found = await pincite.questions.evaluations.list_sets(await pincite.scope(caller))
    return JSONResponse(shapes.page([shapes.evaluation_set(one) for one in found]))


@router.get("/evaluation-sets/{set_id}")
async def questions(set_id: str, pincite: Engine, caller: Writer) -> JSONResponse:
    """One set with its questions and the places that answer them."""
    found = await pincite.questions.evaluations.get_set(await pincite.scope(caller), set_id)
    return JSONResponse(_with_questions(found))


def _with_questions(found: EvaluationSet) -> shapes.Json:
    return shapes.evaluation_set(found) | {"items": [shapes.question(one) for one in found.questions]}


@router.delete("/evaluation-sets/{set_id}")
async def remove(set_id: str, pincite: Engine, caller: Writer) -> JSONResponse:
    """Remove a set, its questions and every run of it."""
    await pincite.questions.evaluations.remove_set(await pincite.scope(caller), set_id)
    return JSONResponse({"id": set_id, "removed": True})
