"""Settings, their changes and profiles as the JSON that the documentation promises."""

from collections.abc import Mapping, Sequence
from typing import Any

from pincite.config.profiles import Profile
from pincite.config.schema import Key, catalogue, without_password
from pincite.core.operations import SettingChange
from pincite.engine.live_settings import LiveSettings, SettingLine, SettingsOutcome
from pincite.serialize.answers import Json, moment, page

__all__ = [
    "page",
    "profile",
    "profile_against",
    "setting",
    "setting_change",
    "setting_key",
    "settings",
    "settings_outcome",
]


def settings(control: LiveSettings) -> Json:
    """Every setting as it is now, by key and one by one; what is stored and does not count is told with the reason."""
    lines = control.lines()
    return {
        "revision": control.settings.revision,
        "safe": control.safe,
        "values": {line.key.name: without_password(line.value) for line in lines if not line.key.secret},
        "items": [setting(line) for line in lines],
        "ignored": dict(control.ignored),
    }


def setting(line: SettingLine) -> Json:
    """One setting as it is now; of a secret only whether it is there."""
    key = line.key
    told: Json = {
        "key": key.name,
        "value": without_password(line.value),
        "source": line.source,
        "acts": key.acts,
        "default": key.default,
        "changeable": not key.fixed,
    }
    if key.secret:
        told |= {"secret": True, "set": line.set}
    return told | ({"stored": without_password(line.stored)} if line.stored is not None else {})


def setting_key(key: Key) -> Json:
    """What can be said about a setting, whatever its value."""
    return {
        "key": key.name,
        "description": key.description,
        "type": key.kind,
        "allowed": key.allowed,
        "minimum": key.low,
        "minimum_excluded": key.above_low,
        "maximum": key.high,
        "choices": list(key.choices),
        "default": key.default,
        "acts": key.acts,
        "secret": key.secret,
        "changeable": not key.fixed,
        "reason": key.fixed or None,
        "environment": [key.environment, *key.aliases],
    }


def setting_change(change: SettingChange) -> Json:
    """One key that changed."""
    return {
        "batch": change.batch,
        "kind": change.kind,
        "key": change.key,
        "before": without_password(change.before),
        "after": without_password(change.after),
        "profile": change.profile,
        "undoes": change.undoes,
        "undone": change.undone,
        "person": change.person,
        "key_id": change.key_id,
        "changed_at": moment(change.changed_at),
    }


def settings_outcome(outcome: SettingsOutcome, stale: int, control: LiveSettings) -> Json:
    """What a change did, and in words what is to be known about it."""
    notes = list(outcome.missing)
    kept = [one.key for one in outcome.changes if one.key in catalogue() and control.line(one.key).source == "call"]
    if kept:
        notes.append(f"this process was started with its own {', '.join(kept)} and keeps it; others follow the change")
    if outcome.reindex:
        stale_now = f"stale now: {stale}; renew them: pincite reindex" if stale else "none is stale"
        notes.append(f"a change of {', '.join(outcome.reindex)} acts on documents indexed after it ({stale_now})")
    if control.safe:
        notes.append("PINCITE_SAFE is set: this process ignores what is stored")
    return {
        "revision": outcome.revision,
        "changes": [setting_change(change) for change in outcome.changes],
        "profile": outcome.profile,
        "reindex": list(outcome.reindex),
        "stale_documents": stale,
        "notes": notes,
    }


def profile(value: Profile) -> Json:
    """A profile: what it sets for a request, and what only for a whole library."""
    by_request = {key: one for key, one in value.values.items() if catalogue()[key].acts == "query"}
    by_library = {key: one for key, one in value.values.items() if key not in by_request}
    return {"name": value.name, "about": value.about, "query": by_request, "index": by_library}


def profile_against(value: Profile, changes: Mapping[str, tuple[Any, Any]], missing: Sequence[str]) -> Json:
    """A profile and what applying it would change, from and to."""
    told = {key: {"before": before, "after": after} for key, (before, after) in changes.items()}
    return profile(value) | {"changes": told, "notes": list(missing)}
