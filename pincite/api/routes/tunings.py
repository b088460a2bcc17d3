"""Tunings: settings tried on a question set in the background, and the proposed change applied on request."""

import asyncio
import logging
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import JSONResponse

from pincite.api.dependencies import Administrator, Engine, Writer
from pincite.api.paths import API
from pincite.api.routes.evaluations import BackgroundEvaluation
from pincite.concurrency import cancel_and_wait
from pincite.core.accounts.access import Caller
from pincite.core.documents.document import Progress
from pincite.core.evaluations import EvaluationSet
from pincite.engine.app import AsyncPincite
from pincite.errors import Conflict, PinciteError
from pincite.evaluate.candidates import Candidate, make_candidates
from pincite.evaluate.questions.own_documents import PROGRESS_INTERVAL_S
from pincite.evaluate.tune import find_set, split, tune
from pincite.serialize.fields import Body, Name
from pincite.serialize.primitives import page_json
from pincite.serialize.settings import settings_outcome_json
from pincite.serialize.tuning import stored_tuning_json, tuning_json

log = logging.getLogger(__name__)

router = APIRouter(prefix=API, tags=["evaluations"])


class TuningBody(Body):
    """The set to tune on, by default the newest imported one; further changes such as `rag.top_k=7`, or `only` these."""

    set_id: Annotated[Name | None, Field(max_length=100)] = None
    candidates: list[Annotated[Name, Field(max_length=500)]] = Field(default=[], max_length=50)
    only: bool = False


@router.post("/tunings", status_code=202)
async def start(request: Request, pincite: Engine, caller: Writer, body: TuningBody | None = None) -> JSONResponse:
    """Try settings on a stored question set in the background; one evaluation or tuning runs at a time."""
    wanted, kit = body or TuningBody(), pincite.admin.kit()
    background: BackgroundEvaluation = request.app.state.evaluation
    questions, notes = await find_set(pincite, wanted.set_id, caller=caller)
    split(questions)
    candidates = make_candidates(
        pincite.settings,
        questions.tests,
        extra=wanted.candidates,
        only_extra=wanted.only,
        has_model=kit.llm is not kit.extractive,
    )
    scope = await pincite.scope(caller)
    async with background.only_one():
        tuning = await pincite.questions.tunings.begin(scope, questions.id, pincite.settings.revision)
        background.run(_run(pincite, tuning.id, questions, candidates, notes, caller))
    return JSONResponse({"tuning": stored_tuning_json(tuning)}, 202)


async def _run(
    pincite: AsyncPincite,
    tuning_id: str,
    questions: EvaluationSet,
    candidates: list[Candidate],
    notes: tuple[str, ...],
    caller: Caller,
) -> None:
    stored, scope = pincite.questions.tunings, await pincite.scope(caller)
    done = _Done()
    try:
        work = asyncio.create_task(tune(pincite, questions, candidates, caller=caller, report=done))
        try:
            while not (await asyncio.wait([work], timeout=PROGRESS_INTERVAL_S))[0]:
                await stored.advance(scope, tuning_id, done.share)
        finally:
            await cancel_and_wait(work)
        fields = tuning_json(work.result())
        await stored.finish(scope, tuning_id, fields | {"notes": [*notes, *fields["notes"]]})
    except PinciteError as error:
        log.warning("the tuning %s failed: %s", tuning_id, error)
        await stored.fail(scope, tuning_id, str(error))
    except Exception:
        log.exception("the tuning %s failed with an unexpected error", tuning_id)
        await stored.fail(scope, tuning_id, "an unexpected error occurred; the server's log has the details")


class _Done:
    """The share of the questions that were asked."""

    share = 0.0

    def __call__(self, progress: Progress) -> None:
        """Note the progress."""
        self.share = progress.done / max(1, progress.total)


@router.get("/tunings")
async def tunings(pincite: Engine, caller: Writer, limit: Annotated[int, Query(ge=1, le=100)] = 20) -> JSONResponse:
    """List the newest tunings."""
    found = await pincite.questions.tunings.list(await pincite.scope(caller), limit)
    return JSONResponse(page_json([stored_tuning_json(one) for one in found]))


@router.get("/tunings/{tuning_id}")
async def tuning(tuning_id: str, pincite: Engine, caller: Writer) -> JSONResponse:
    """Show one tuning: its progress, or what was tried and what is proposed."""
    return JSONResponse(stored_tuning_json(await pincite.questions.tunings.get(await pincite.scope(caller), tuning_id)))


@router.post("/tunings/{tuning_id}/apply")
async def apply(tuning_id: str, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Store the proposed change for every process; `POST /settings/undo` takes it back."""
    found = await pincite.questions.tunings.get(await pincite.scope(caller), tuning_id)
    proposal = (found.result or {}).get("proposal")
    if proposal is None:
        raise Conflict("this tuning proposes no change")
    outcome = await pincite.admin.settings.set(proposal["after"], caller)
    stale = await pincite.documents.stale(caller=caller)
    return JSONResponse(settings_outcome_json(outcome, stale, pincite.admin.settings))
