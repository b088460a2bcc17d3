"""Traces and replays as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from pincite.core.traces import Span, Trace
from pincite.serialize.primitives import Json, iso_time
from pincite.tracing.replay import RankChange, Replay


def trace_json(value: Trace, *, spans: bool) -> Json:
    """The trace of a request; `spans` are included on request, lists leave them out."""
    fields = {
        "id": value.id,
        "owner": value.owner,
        "kind": value.kind,
        "question": value.content.question if value.content else None,
        "strategy": value.strategy,
        "started_at": iso_time(value.started_at),
        "duration_ms": round(value.duration_ms, 3),
        "error": value.error,
        "code": value.code,
        "degraded": [asdict(note) for note in value.degraded],
        "request_id": value.request_id,
        "parent": value.remote,
        "options": dict(value.options),
        "settings": dict(value.settings),
        "outcome": asdict(value.outcome) if value.outcome else None,
        "content": asdict(value.content) if value.content else None,
    }
    return fields | {"spans": [_span_json(one, value.spans) for one in value.spans]} if spans else fields


def _span_json(value: Span, spans: Sequence[Span]) -> Json:
    return {
        "id": value.id,
        "parent_id": None if value.parent is None else spans[value.parent].id,
        "name": value.name,
        "started_ms": round(value.started_ms, 3),
        "duration_ms": round(value.duration_ms, 3),
        "error": value.error,
        "attributes": value.attributes,
    }


def replay_json(value: Replay, titles: Mapping[str, str]) -> Json:
    """The changes between a trace and its replay; `titles` maps document ids to titles."""
    before, after = value.before, value.after
    outcomes = [one.outcome for one in (before, after)]
    return {
        "replay_of": before.id,
        "trace_id": after.id,
        "changed": value.changed,
        "settings": {key: {"before": old, "after": new} for key, (old, new) in value.settings.items()},
        "passages": [_moved_json(one, titles.get(one.document_id)) for one in value.passages],
        "answer": None
        if value.answer is None
        else {
            "before": "".join(text for change, text in value.answer if change != "added"),
            "after": "".join(text for change, text in value.answer if change != "removed"),
            "changes": [{"change": change, "text": text} for change, text in value.answer],
        },
        **{
            name: dict(zip(("before", "after"), (getattr(one, name) if one else None for one in outcomes), strict=True))
            for name in ("confidence", "groundedness", "cited", "model")
        },
        "duration_ms": {"before": round(before.duration_ms, 3), "after": round(after.duration_ms, 3)},
        "degraded": [asdict(note) for note in after.degraded],
    }


def _moved_json(value: RankChange, title: str | None) -> Json:
    return {
        "chunk_id": value.chunk_id,
        "document_id": value.document_id,
        "title": title,
        "change": value.change,
        "rank_before": value.before,
        "rank_after": value.after,
        "score_before": value.score_before,
        "score_after": value.score_after,
    }
