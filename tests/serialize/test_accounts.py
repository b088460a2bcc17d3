"""The JSON of API keys."""

from datetime import UTC, datetime

from pincite.core.accounts.users import ApiKey
from pincite.serialize.accounts import key_json

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def test_a_key_has_its_times_and_no_secret() -> None:
    assert key_json(ApiKey("k1", "ann", "laptop", "reader", NOON, None, NOON)) == {
        "id": "k1",
        "user": "ann",
        "name": "laptop",
        "role": "reader",
        "created_at": "2024-05-01T12:00:00Z",
        "expires_at": None,
        "revoked_at": "2024-05-01T12:00:00Z",
    }
