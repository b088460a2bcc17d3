"""Settings, their changes and profiles as the documented JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

from pincite.config.profiles import Profile
from pincite.config.schema import Key, catalogue, without_password
from pincite.core.operations import SettingChange
from pincite.engine.live_settings import LiveSettings, SettingLine, SettingsOutcome
from pincite.serialize.primitives import Json, iso_time


def settings_json(control: LiveSettings) -> Json:
    """All current settings, with the reason for each value that is not used.

    `ignored` are stored values, `overridden` those of the environment.
    """
    lines = control.lines()
    return {
        "revision": control.settings.revision,
        "safe": control.safe,
        "values": {line.key.name: without_password(line.value) for line in lines if not line.key.secret},
        "items": [setting_json(line) for line in lines],
        "ignored": dict(control.ignored),
        "overridden": dict(control.overridden),
    }


def setting_json(line: SettingLine) -> Json:
    """One current setting; for a secret only whether it is set."""
    key = line.key
    fields: Json = {
        "key": key.name,
        "value": without_password(line.value),
        "source": line.source,
        "acts": key.acts,
        "default": key.default,
        "changeable": not key.fixed,
    }
    if key.secret:
        fields |= {"secret": True, "set": line.set}
    return fields | ({"stored": without_password(line.stored)} if line.stored is not None else {})


def setting_key_json(key: Key) -> Json:
    """The schema of one setting: type, limits, default and environment names."""
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


def setting_change_json(change: SettingChange) -> Json:
    """One recorded change of a setting."""
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
        "changed_at": iso_time(change.changed_at),
    }


def settings_outcome_json(outcome: SettingsOutcome, stale: int, control: LiveSettings) -> Json:
    """The outcome of a change, with notes for the administrator."""
    notes = list(outcome.missing)
    kept = [one.key for one in outcome.changes if one.key in catalogue() and control.line(one.key).source == "call"]
    if kept:
        notes.append(
            f"this process was started with its own {', '.join(kept)} and keeps it; other processes use the new value"
        )
    stale_now = f"stale documents: {stale}; update them with: pincite reindex" if stale else "no document is stale"
    embedder = [key for key in outcome.reindex if key.startswith("embedding.")]
    if others := [key for key in outcome.reindex if key not in embedder]:
        notes.append(f"a change of {', '.join(others)} applies to documents indexed from now on ({stale_now})")
    if embedder:
        notes.append(f"a change of {', '.join(embedder)} applies once all documents are reindexed ({stale_now})")
    if control.safe:
        notes.append("PINCITE_SAFE is set: this process ignores the stored settings")
    return {
        "revision": outcome.revision,
        "changes": [setting_change_json(change) for change in outcome.changes],
        "profile": outcome.profile,
        "reindex": list(outcome.reindex),
        "stale_documents": stale,
        "notes": notes,
    }


def profile_json(value: Profile) -> Json:
    """A profile: its query settings, and its index settings, which apply only to a whole library."""
    by_request = {key: one for key, one in value.values.items() if catalogue()[key].acts == "query"}
    by_library = {key: one for key, one in value.values.items() if key not in by_request}
    return {"name": value.name, "about": value.about, "query": by_request, "index": by_library}


def profile_changes_json(value: Profile, changes: Mapping[str, tuple[Any, Any]], missing: Sequence[str]) -> Json:
    """A profile and the settings that applying it would change."""
    differences = {key: {"before": before, "after": after} for key, (before, after) in changes.items()}
    return profile_json(value) | {"changes": differences, "notes": list(missing)}
