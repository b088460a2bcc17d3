"""Settings: looked at, changed for every process, taken back; and the profiles there are."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field, model_validator
from starlette.responses import JSONResponse

from pincite.api.dependencies import Engine
from pincite.api.middleware.authenticate import Administrator
from pincite.api.paths import API
from pincite.config.profiles import profiles
from pincite.config.schema import catalogue
from pincite.core.accounts.access import Caller
from pincite.engine.app import AsyncPincite
from pincite.engine.live_settings import SettingsOutcome
from pincite.serialize import settings as shapes
from pincite.serialize.fields import Body, Name

router = APIRouter(prefix=API, tags=["settings"])

LAST = 2**63 - 1
"""The highest number the database counts to."""

Values = Annotated[dict[Name, Any], Field(min_length=1, max_length=1000)]


class SettingsBody(Body):
    """Settings by dotted key; null takes a change back. A flat object of dotted keys is taken as well."""

    values: Values

    @model_validator(mode="before")
    @classmethod
    def _flat(cls, data: Any) -> Any:
        if data in ({}, {"values": {}}):
            raise ValueError('send settings by their keys, such as {"rag.top_k": 5}')
        return {"values": data} if isinstance(data, dict) and "values" not in data else data


class ApplyBody(Body):
    """Which profile."""

    profile: Annotated[Name, Field(max_length=200)]


@router.get("/settings")
async def settings(pincite: Engine, caller: Administrator) -> JSONResponse:
    """Every setting: its value, where that comes from, and when a change of it acts; no secret."""
    return JSONResponse(shapes.settings(pincite.admin.settings))


@router.put("/settings")
async def change(body: SettingsBody, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Change settings together, in every process; all of them or none."""
    return await _told(pincite, caller, await pincite.admin.settings.set(body.values, caller))


@router.get("/settings/schema")
async def schema(caller: Administrator) -> JSONResponse:
    """What each setting means, what it may be, its default, and whether it can be changed here."""
    return JSONResponse(shapes.page([shapes.setting_key(key) for key in catalogue().values()]))


@router.get("/settings/history")
async def history(
    pincite: Engine,
    caller: Administrator,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: Annotated[int | None, Query(ge=1, le=LAST)] = None,
) -> JSONResponse:
    """What was changed, newest first, by whom; `limit` counts batches."""
    found = await pincite.admin.settings.history(caller, limit=limit + 1, before=cursor)
    batches = sorted({one.batch for one in found}, reverse=True)
    following = batches[limit - 1] if len(batches) > limit else None
    items = [shapes.setting_change(one) for one in found if one.batch in batches[:limit]]
    return JSONResponse({"items": items, "next_cursor": None if following is None else str(following)})


@router.post("/settings/undo")
async def undo(pincite: Engine, caller: Administrator) -> JSONResponse:
    """Take back the newest batch of changes that was not taken back yet."""
    return await _told(pincite, caller, await pincite.admin.settings.undo(caller))


@router.post("/settings/apply")
async def apply(body: ApplyBody, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Set what a profile sets, for the whole library, as one batch."""
    return await _told(pincite, caller, await pincite.admin.settings.apply(body.profile, caller))


@router.get("/profiles")
async def all_profiles(caller: Administrator) -> JSONResponse:
    """The profiles, and what each sets."""
    return JSONResponse(shapes.page([shapes.profile(one) for one in profiles().values()]))


@router.get("/profiles/{profile}")
async def one_profile(profile: str, pincite: Engine, caller: Administrator) -> JSONResponse:
    """One profile, what applying it would change here, and in words what it would like besides."""
    changes, missing = pincite.admin.settings.diff_profile(profile)
    return JSONResponse(shapes.profile_against(profiles()[profile], changes, missing))


async def _told(pincite: AsyncPincite, caller: Caller, outcome: SettingsOutcome) -> JSONResponse:
    stale = await pincite.documents.stale(caller=caller)
    return JSONResponse(shapes.settings_outcome(outcome, stale, pincite.admin.settings))
