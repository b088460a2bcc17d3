import pytest

from pincite.core.accounts.access import LOCAL, PERMISSIONS, Caller, require
from pincite.errors import NotAllowed


def test_the_local_owner_may_do_everything() -> None:
    assert PERMISSIONS["administrator"] == {"read", "write", "administer", "measure"}
    for right in PERMISSIONS["administrator"]:
        require(LOCAL, right)


@pytest.mark.parametrize(("role", "refused"), [("reader", "write"), ("reader", "administer"), ("editor", "administer")])
def test_a_role_has_only_its_permissions(role: str, refused: str) -> None:
    caller = Caller("somebody", role)  # type: ignore[arg-type]
    require(caller, "read")
    with pytest.raises(NotAllowed, match=f"the role '{role}' may not {refused}"):
        require(caller, refused)


def test_a_key_for_metrics_may_read_nothing_else() -> None:
    collector = Caller("somebody", "metrics")
    require(collector, "measure")
    for right in ("read", "write", "administer"):
        with pytest.raises(NotAllowed):
            require(collector, right)
    for role in ("reader", "editor"):
        with pytest.raises(NotAllowed):
            require(Caller("somebody", role), "measure")  # type: ignore[arg-type]


def test_no_role_has_an_unknown_permission() -> None:
    with pytest.raises(NotAllowed):
        require(LOCAL, "fly")
