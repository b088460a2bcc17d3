"""The commands for API keys."""

import pytest

from .terminal import Call


def test_a_key_is_printed_once_and_alone(pincite: Call) -> None:
    said = pincite("key", "create", "--name", "for the page", "--role", "reader", "--expires", "3")
    assert said.out.startswith("pc_")
    assert said.out.count("\n") == 1
    assert "not shown again" in said.err
    assert "role reader; expires in 3 days" in said.err
    listed = pincite("key", "list")
    assert "for the page" in listed.out
    assert said.out.strip() not in listed.out


def test_a_key_speaks_json_and_can_be_revoked(pincite: Call) -> None:
    made = pincite("key", "create", "--name", "script", "--json").json
    assert set(made) == {"key", "id"}
    [listed] = [key for key in pincite("key", "list", "--json").json["items"] if key["id"] == made["id"]]
    assert (listed["name"], listed["role"], listed["expires_at"], listed["revoked_at"]) == (
        "script",
        "administrator",
        None,
        None,
    )
    assert pincite("key", "revoke", made["id"][:6]).out == f"revoked {made['id']} (script)\n"
    [listed] = [key for key in pincite("key", "list", "--json").json["items"] if key["id"] == made["id"]]
    assert listed["revoked_at"] is not None
    assert "revoked" in pincite("key", "list").out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--name", "x", "--role", "king"], "there is no role 'king'; there are: administrator, editor, reader"),
        (["--name", "  "], "the name is empty; give one that says what the key is for"),
        (["--name", "x", "--expires", "0"], "invalid value for '--expires'"),
        ([], "missing option '--name'"),
    ],
)
def test_an_invalid_option_is_one_line(pincite: Call, arguments: list[str], told: str) -> None:
    assert told in pincite("key", "create", *arguments).failed_with(2)


def test_an_unknown_key_is_one_line(pincite: Call) -> None:
    assert pincite("key", "revoke", "beef").failed_with(1) == "there is no key 'beef'; see: pincite key list"
