"""Settings: list, change for every process, undo; and the profiles."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field, model_validator
from starlette.responses import JSONResponse

from pincite.api.dependencies import Administrator, Engine
from pincite.api.paths import API
from pincite.config.profiles import profiles
from pincite.config.schema import catalogue
from pincite.core.accounts.access import Caller
from pincite.engine.app import AsyncPincite
from pincite.engine.live_settings import SettingsOutcome
from pincite.serialize.fields import Body, Name
from pincite.serialize.primitives import page_json
from pincite.serialize.settings import (
    profile_changes_json,
    profile_json,
    setting_change_json,
    setting_key_json,
    settings_json,
    settings_outcome_json,
)

router = APIRouter(prefix=API, tags=["settings"])

MAX_BATCH = 2**63 - 1
"""Largest batch number: the maximum of a database bigint."""

Values = Annotated[dict[Name, Any], Field(min_length=1, max_length=1000)]


class SettingsBody(Body):
    """Settings by dotted key; null resets one. A flat object of dotted keys is accepted as well."""

    values: Values

    @model_validator(mode="before")
    @classmethod
    def _flat(cls, data: Any) -> Any:
        if data in ({}, {"values": {}}):
            raise ValueError('send settings by their keys, such as {"rag.top_k": 5}')
        return {"values": data} if isinstance(data, dict) and "values" not in data else data


class ApplyBody(Body):
    """The name of a profile."""

    profile: Annotated[Name, Field(max_length=200)]


@router.get("/settings")
async def settings(pincite: Engine, caller: Administrator) -> JSONResponse:
    """List all settings with value, source and when a change takes effect; never secrets."""
    return JSONResponse(settings_json(pincite.admin.settings))


@router.put("/settings")
async def change(body: SettingsBody, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Change settings in every process, all of them or none."""
    return await _outcome_response(pincite, caller, await pincite.admin.settings.set(body.values, caller))


@router.get("/settings/schema")
async def schema(caller: Administrator) -> JSONResponse:
    """Describe each setting: meaning, allowed values, default, and whether it can be changed here."""
    return JSONResponse(page_json([setting_key_json(key) for key in catalogue().values()]))


@router.get("/settings/history")
async def history(
    pincite: Engine,
    caller: Administrator,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: Annotated[int | None, Query(ge=1, le=MAX_BATCH)] = None,
) -> JSONResponse:
    """List changes and who made them, newest first; `limit` counts batches."""
    found = await pincite.admin.settings.history(caller, limit=limit + 1, before=cursor)
    batches = sorted({one.batch for one in found}, reverse=True)
    following = batches[limit - 1] if len(batches) > limit else None
    items = [setting_change_json(one) for one in found if one.batch in batches[:limit]]
    return JSONResponse({"items": items, "next_cursor": None if following is None else str(following)})


@router.post("/settings/undo")
async def undo(pincite: Engine, caller: Administrator) -> JSONResponse:
    """Undo the newest batch of changes that is not undone yet."""
    return await _outcome_response(pincite, caller, await pincite.admin.settings.undo(caller))


@router.post("/settings/apply")
async def apply(body: ApplyBody, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Apply a profile to the whole library, as one batch."""
    return await _outcome_response(pincite, caller, await pincite.admin.settings.apply(body.profile, caller))


@router.get("/profiles")
async def all_profiles(caller: Administrator) -> JSONResponse:
    """List the profiles and their settings."""
    return JSONResponse(page_json([profile_json(one) for one in profiles().values()]))


@router.get("/profiles/{profile}")
async def one_profile(profile: str, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Show one profile, the changes of applying it, and notes on what it lacks."""
    changes, missing = pincite.admin.settings.diff_profile(profile)
    return JSONResponse(profile_changes_json(profiles()[profile], changes, missing))


async def _outcome_response(pincite: AsyncPincite, caller: Caller, outcome: SettingsOutcome) -> JSONResponse:
    stale = await pincite.documents.stale(caller=caller)
    return JSONResponse(settings_outcome_json(outcome, stale, pincite.admin.settings))
