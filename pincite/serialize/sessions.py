"""Sessions (stored conversations) and their turns as JSON."""

from pincite.core.accounts.conversations import KeptTurn, Session
from pincite.serialize.answers import answer_json
from pincite.serialize.primitives import Json, iso_time


def session_json(value: Session, *, turns: bool) -> Json:
    """A session; `turns` are included on request, lists leave them out."""
    fields = {
        "id": value.id,
        "title": value.title,
        "created_at": iso_time(value.created_at),
        "updated_at": iso_time(value.updated_at),
        "turn_count": value.turn_count,
    }
    return fields | {"turns": [turn_json(one) for one in value.turns]} if turns else fields


def turn_json(value: KeptTurn) -> Json:
    """One turn; `text` is the answer's text as far as it was written, `answer` the complete answer or null."""
    return {
        "question": value.question,
        "standalone": value.standalone,
        "text": value.words,
        "answer": answer_json(value.answer) if value.answer else None,
        "complete": value.complete,
        "removed": value.removed,
        "trace_id": value.trace_id,
        "rating": value.rating,
        "created_at": iso_time(value.created_at),
    }
