"""Who may do what: the only place that decides."""

from collections.abc import Mapping

from pincite.core.callers import Caller, Role
from pincite.errors import NotAllowed

LOCAL = Caller(person="local", role="administrator")
"""Whoever can read the data folder: the command line and the library act as this one."""

MAY: Mapping[Role, frozenset[str]] = {
    "reader": frozenset({"read"}),
    "editor": frozenset({"read", "write"}),
    "administrator": frozenset({"read", "write", "administer", "measure"}),
    "metrics": frozenset({"measure"}),
}


def require(caller: Caller, what: str) -> None:
    """Raise `NotAllowed` unless the caller's role may do this."""
    if what not in MAY[caller.role]:
        raise NotAllowed(f"a key of the role '{caller.role}' may not {what} here; use one with a wider role")
