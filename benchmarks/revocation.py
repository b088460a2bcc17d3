"""How soon a change of permissions takes effect: in searches, streams, keys, logins and links, during indexing.

    ./run bench revocation [--rounds 20] [--streams 5] [--documents 1000] [--data DIR]

Over HTTP, with its own server and worker. A time is measured from the request of the change to the first response that
respects it; searches are repeated until then. At the end a folder of many small documents is shared and unshared, once
with other documents in the same realm, which is the slow path.
"""

import argparse
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2

from pincite.api.paths import API
from pincite.store.embedded.server import EmbeddedServer
from tests.api.guests import PASSWORD, Guest, cut, guest, share, suspend
from tests.api.live_server import LiveServer, completed, upload
from tests.api.models import Talker, speaking

ASKED = "How many vacation days carry over?"
TOLD = "| what | rounds | p50 ms | max ms | promised |\n|---|---|---|---|---|"
SOON, STREAM = "≤ 1 s", "≤ 5 s"
GIVE_UP_S = 60.0


def until(obeyed: Callable[[], bool], change: Callable[[], object]) -> float:
    """Milliseconds from asking for a change until it is obeyed."""
    began = time.perf_counter()
    change()
    while not obeyed():
        if time.perf_counter() - began > GIVE_UP_S:
            raise SystemExit("a change of rights was never obeyed")
    return 1000 * (time.perf_counter() - began)


def tell(what: str, took: list[float], promised: str) -> None:
    """One line of the table."""
    print(f"| {what} | {len(took)} | {statistics.median(took):.0f} | {max(took):.0f} | {promised} |", flush=True)


def finds(who: Guest, wanted: bool) -> Callable[[], bool]:
    """Whether a search of theirs finds the document, as it should or should not."""

    def obeyed() -> bool:
        found = who.client.post(f"{API}/search", json={"query": ASKED}).json()["results"]
        return any(hit["metadata"]["document_id"] == who.document for hit in found) == wanted

    return obeyed


def refused(client: httpx2.Client, address: str) -> Callable[[], bool]:
    """Whether somebody is turned away."""
    return lambda: client.get(f"{API}{address}").status_code in (401, 404)


@contextmanager
def indexing(boss: httpx2.Client) -> Iterator[None]:
    """Give the worker something to do meanwhile."""
    enough = threading.Event()

    def feed() -> None:
        number = 0
        while not enough.wait(0.2):
            number += 1
            upload(
                boss, f"{number}.md", f"# Note {number}\n\nVacation days of year {number} carry over.\n", folder="busy"
            )

    thread = threading.Thread(target=feed, daemon=True)
    thread.start()
    try:
        yield
    finally:
        enough.set()
        thread.join()


def searches(door: LiveServer, boss: httpx2.Client, rounds: int) -> None:
    """Documents shared, taken back, and moved; groups left; in searches."""
    with guest(door, "search") as who:
        boss.post(f"{API}/groups", json={"name": "bench"}).raise_for_status()
        boss.post(f"{API}/folders", json={"path": "open", "access": {"users": ["search"]}}).raise_for_status()
        member, address = f"{API}/groups/bench/members/search", f"{API}/documents/{who.document}"
        shared, taken, joined, left, moved, back = ([] for _ in range(6))  # type: ignore[var-annotated]
        finds(who, True)()  # the first search of a server is slower
        for _ in range(rounds):
            taken.append(until(finds(who, False), lambda: share(boss, who.document)))
            shared.append(until(finds(who, True), lambda: share(boss, who.document, "search")))
            boss.patch(address, json={"access": {"groups": ["bench"]}}).raise_for_status()
            joined.append(until(finds(who, True), lambda: boss.put(member).raise_for_status()))
            left.append(until(finds(who, False), lambda: boss.delete(member).raise_for_status()))
            boss.patch(address, json={"access": None}).raise_for_status()
            moved.append(until(finds(who, True), lambda: boss.patch(address, json={"folder": "open"})))
            back.append(until(finds(who, False), lambda: boss.patch(address, json={"folder": "standing-search"})))
    told = (("shared", shared), ("taken back", taken), ("group joined", joined), ("group left", left),
            ("moved into a shared folder", moved), ("moved out of it", back))  # fmt: skip
    for what, took in told:
        tell(f"search: {what}", took, SOON)


def streams(door: LiveServer, boss: httpx2.Client, rounds: int) -> None:
    """Answers on their way, cut when a document is taken back or their asker suspended."""
    lost, shut = [], []
    with guest(door, "stream") as who, speaking(door, Talker()):
        body = {"query": ASKED, "stream": True, "folder": "standing-stream"}
        for _ in range(rounds):
            share(boss, who.document, "stream")
            with who.client.stream("POST", f"{API}/query", json=body) as response:
                lost.append(1000 * cut(response.iter_lines(), lambda: share(boss, who.document))[1])
            share(boss, who.document, "stream")
            with who.client.stream("POST", f"{API}/query", json=body) as response:
                shut.append(1000 * cut(response.iter_lines(), lambda: suspend(boss, "stream"))[1])
            boss.patch(f"{API}/users/stream", json={"suspended": False}).raise_for_status()
    tell("stream: a document taken back", lost, STREAM)
    tell("stream: its asker suspended", shut, STREAM)


def ways_in(door: LiveServer, boss: httpx2.Client, rounds: int) -> None:
    """Keys revoked, users suspended with a login, links of users who are suspended."""
    keys, logins, links = [], [], []
    with guest(door, "owner") as owner, guest(door, "other") as other:
        answer = owner.client.post(f"{API}/chat", json={"message": ASKED, "folder": "standing-owner"}).json()
        link = owner.client.post(f"{API}/shares", json={"answer_id": answer["id"]}).json()["id"]
        for _ in range(rounds):
            made = boss.post(f"{API}/keys", json={"name": "bench", "user": "owner", "role": "reader"}).json()
            with httpx2.Client(base_url=door.url, headers={"Authorization": f"Bearer {made['key']}"}) as client:
                revoke = f"{API}/keys/{made['id']}"
                keys.append(until(refused(client, "/me"), lambda at=revoke: boss.delete(at)))  # type: ignore[misc]
            with httpx2.Client(base_url=door.url) as browser:
                browser.post(f"{API}/auth/login", json={"name": "owner", "password": PASSWORD}).raise_for_status()
                logins.append(until(refused(browser, "/me"), lambda: suspend(boss, "owner")))
            boss.patch(f"{API}/users/owner", json={"suspended": False}).raise_for_status()
            links.append(until(refused(other.client, f"/shares/{link}"), lambda: suspend(boss, "owner")))
            boss.patch(f"{API}/users/owner", json={"suspended": False}).raise_for_status()
    tell("key: revoked", keys, SOON)
    tell("login: its user suspended", logins, SOON)
    tell("link: its owner suspended", links, SOON)


def folder(door: LiveServer, boss: httpx2.Client, documents: int) -> None:
    """A folder of many documents shared and taken back, as calls, and until a search obeys."""
    with guest(door, "folder") as who:
        for number in range(documents):
            upload(
                boss,
                f"{number}.md",
                f"# Leave {number}\n\nIn year {number} five days of leave carry over.\n",
                folder="many",
            )
        completed(boss, "many")

        def access(wish: dict[str, list[str]]) -> None:
            boss.patch(f"{API}/folders", json={"path": "many", "access": wish}, timeout=600).raise_for_status()

        def found(wanted: bool) -> Callable[[], bool]:
            body = {"query": "leave carry over", "folder": "many"}
            # A folder of which nothing may be read is unknown: the answer then is a 404 without results.
            return lambda: bool(who.client.post(f"{API}/search", json=body).json().get("results")) == wanted

        boss.post(f"{API}/folders", json={"path": "many"})
        tell(f"folder of {documents}: shared", [until(found(True), lambda: access({"users": ["folder"]}))], "a few s")
        changing = threading.Thread(target=access, args=({},))
        tell(f"folder of {documents}: taken back", [until(found(False), changing.start)], SOON)
        changing.join()


def main() -> None:
    """Start a server, measure, and print a line for each thing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20, help="how often each change is made (20)")
    parser.add_argument("--streams", type=int, default=5, help="how often a stream is cut, each way (5)")
    parser.add_argument("--documents", type=int, default=1000, help="documents in the folder that is shared (1000)")
    parser.add_argument("--data", type=Path, help="a new folder for the library; a temporary one otherwise")
    chosen = parser.parse_args()
    with ExitStack() as stack:
        data = chosen.data or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(EmbeddedServer.open(data / "library"))
        door = stack.enter_context(LiveServer(data / "library", **{"database.url": server.url, "logs.level": "error"}))
        boss = stack.enter_context(door.client())
        print(TOLD)
        with indexing(boss):
            searches(door, boss, chosen.rounds)
            streams(door, boss, chosen.streams)
            ways_in(door, boss, chosen.rounds)
        folder(door, boss, chosen.documents)


if __name__ == "__main__":
    main()
