"""API keys in a terminal."""

from datetime import UTC, datetime, timedelta

from pincite.cli.view.keys import print_keys
from pincite.core.accounts.users import ApiKey

from .makers import DAY, seen

SOON = datetime.now(UTC) + timedelta(days=3)


def test_each_key_says_whether_it_is_valid() -> None:
    keys = [
        ApiKey("0123456789abcdef", "ann", "page", "reader", DAY, None, None),
        ApiKey("1", "x" * 100, "x" * 200, "editor", DAY, SOON, None),
        ApiKey("2", "ann", "old", "editor", DAY, DAY, None),
        ApiKey("3", "bob", "gone", "administrator", DAY, SOON, DAY),
    ]
    lines = seen(lambda screen: print_keys(screen, keys)).splitlines()
    assert [line.split()[-1] for line in lines[1:]] == ["valid", f"{SOON:%Y-%m-%d}", "expired", "revoked"]
    assert max(map(len, lines)) <= 80


def test_without_keys_the_list_says_how_to_create_one() -> None:
    assert "pincite key create --name NAME" in seen(lambda screen: print_keys(screen, []))
