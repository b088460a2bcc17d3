"""The commands for the audit log."""

import psycopg

from .terminal import Call


def test_events_are_listed_and_verified(pincite: Call, library_settings: dict[str, str]) -> None:
    pincite("user", "add", "ines")
    assert "user.add" in pincite("audit", "list", "--event", "user", "--limit", "1").out
    [event] = pincite("audit", "list", "--person", "ines", "--since", "5m", "--json").json["items"]
    assert (event["event"], event["person"], event["subject"], event["address"]) == (
        "user.add",
        "local",
        "user:ines",
        "",
    )
    assert pincite("audit", "list", "--person", "nobody at all").out == "There are no matching events.\n"
    held = pincite("audit", "verify", "--json").json
    assert (held["ok"], held["fault"]) == (True, None)
    assert held["head"] in pincite("audit", "verify").out
    assert pincite("audit", "verify", "--head", held["head"]).code == 0
    assert "64 hexadecimal digits" in pincite("audit", "verify", "--head", "x").failed_with(2)
    edit = "update pincite.audit_event set content = replace(content, %s, %s) where number = %s"
    with psycopg.connect(library_settings["PINCITE_DATABASE_URL"], autocommit=True) as owner:
        owner.execute("set row_security = off")
        owner.execute(edit, ("user:ines", "user:otto", event["number"]))
        broken = pincite("audit", "verify")
        assert broken.code == 1
        assert f"is not intact: event {event['number']} was changed" in broken.out
        assert pincite("audit", "verify", "--json").json["ok"] is False
        owner.execute(edit, ("user:otto", "user:ines", event["number"]))
    assert pincite("audit", "verify").code == 0
