"""Addresses of database servers."""

import pytest
from psycopg.conninfo import conninfo_to_dict

from pincite.errors import SettingsError
from pincite.store.connect import LINK, resilient


def test_an_address_with_several_hosts_leads_to_the_primary() -> None:
    made = conninfo_to_dict(resilient("postgresql://me@a:1,b:2/library"))
    assert (made["host"], made["port"], made["target_session_attrs"]) == ("a,b", "1,2", "read-write")
    assert made["connect_timeout"] == "3"
    assert made.items() >= LINK.items()


def test_what_the_address_says_itself_is_kept() -> None:
    made = conninfo_to_dict(resilient("postgresql://me@a,b/x?target_session_attrs=any&connect_timeout=9"))
    assert (made["target_session_attrs"], made["connect_timeout"]) == ("any", "9")


def test_one_host_and_a_socket_are_left_alone() -> None:
    assert "target_session_attrs" not in conninfo_to_dict(resilient("postgresql://me@a/x"))
    assert conninfo_to_dict(resilient("postgresql://me@/x?host=/run/pg")) == {
        "user": "me",
        "dbname": "x",
        "host": "/run/pg",
    }


def test_an_invalid_address_is_refused_without_its_password() -> None:
    with pytest.raises(SettingsError, match="not valid") as told:
        resilient("mysql://me:canary@a/x")
    assert "canary" not in str(told.value)
