"""The JSON of sessions and their turns."""

from datetime import UTC, datetime

from pincite.core.accounts.conversations import KeptTurn, Session
from pincite.serialize.sessions import session_json

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
TURN = KeptTurn("Why?", "Why do cats purr?", "Because", None, complete=False, trace_id="t", created_at=NOON)
SESSION = Session("s1", "Cats", NOON, NOON, 1, (TURN,))


def test_a_list_leaves_the_turns_out() -> None:
    assert session_json(SESSION, turns=False) == {
        "id": "s1",
        "title": "Cats",
        "created_at": "2024-05-01T12:00:00Z",
        "updated_at": "2024-05-01T12:00:00Z",
        "turn_count": 1,
    }


def test_an_incomplete_turn_has_its_text_and_no_answer() -> None:
    [turn] = session_json(SESSION, turns=True)["turns"]
    assert (turn["text"], turn["answer"], turn["complete"]) == ("Because", None, False)
    assert (turn["question"], turn["standalone"]) == ("Why?", "Why do cats purr?")
