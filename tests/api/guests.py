"""Users with whom a document is shared, and ways to revoke their access."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx2

from pincite.api.paths import API
from tests.api.live_server import LiveServer, completed, events, upload
from tests.steady_clock import now

PASSWORD = "a password long enough"
TEXT = "# Leave\n\nFive vacation days carry over to the next year.\n"


@dataclass(frozen=True)
class Guest:
    """Somebody with whom one document is shared, and what they come in with."""

    name: str
    key: str
    document: str
    client: httpx2.Client


@contextmanager
def guest(live_server: LiveServer, name: str, role: str = "reader") -> Iterator[Guest]:
    """A new person who may read one document of the administrator's."""
    folder = f"standing-{name}"
    with live_server.client() as boss:
        boss.post(f"{API}/users", json={"name": name, "role": role, "password": PASSWORD})
        key = boss.post(f"{API}/keys", json={"name": name, "user": name, "role": role}).json()["key"]
        upload(boss, "leave.md", TEXT, folder=folder)
        [document] = completed(boss, folder)
        share(boss, document["id"], name)
    with httpx2.Client(base_url=live_server.url, headers={"Authorization": f"Bearer {key}"}, timeout=300) as client:
        yield Guest(name, key, document["id"], client)


def share(boss: httpx2.Client, document_id: str, *names: str) -> None:
    boss.patch(f"{API}/documents/{document_id}", json={"access": {"users": list(names)}}).raise_for_status()


def suspend(boss: httpx2.Client, name: str) -> None:
    boss.patch(f"{API}/users/{name}", json={"suspended": True}).raise_for_status()


def cut(lines: Iterator[str], take_away: Callable[[], object]) -> tuple[str, float]:
    """Read to the first token, revoke access, read on; return the last event's code and the seconds until it."""
    heard: list[str] = []
    for line in lines:
        heard.append(line)
        if heard[-2:-1] == ["event: token"]:
            break
    take_away()
    taken = now()
    heard.extend(lines)
    [*_, (name, problem)] = events(heard)
    assert name == "error"
    return str(problem["code"]), now() - taken
