"""A primary, a synchronous replica, servers, workers and clients; machines are killed, cut off and switched over."""

import os
import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Literal

import httpx2
import psycopg

from benchmarks._machines import HOST, Postgres, free_port
from tests.faults.wholeness import INCOMPLETE

API = "/api/v1"
Event = Literal["kill primary", "cut off primary", "switch over", "kill server", "kill worker", "lag replica"]
EVENTS: tuple[Event, ...] = (
    "kill primary",
    "cut off primary",
    "kill server",
    "kill worker",
    "switch over",
    "lag replica",
)
LAG_S = 5.0
WAIT_S = 180.0
"""Seconds after which a round has failed."""
RUN = "import sys; from pincite.cli import main; sys.exit(main())"
SETTINGS = {
    "PINCITE_EMBEDDING__PROVIDER": "scripted",
    "PINCITE_INGEST__LEASE_S": "3",
    "PINCITE_INGEST__ATTEMPTS": "20",
    "PINCITE_DATABASE__POOL_SIZE": "6",
    "PINCITE_LIMITS__ANONYMOUS_PER_MINUTE": "1000000",
}


class Network:
    """Network namespaces on one bridge; a machine can be cut off. Needs root and `ip`."""

    def __init__(self, names: Sequence[str]) -> None:
        self._bridge = f"pc{os.getpid() % 10000}"
        self._subnet = f"10.{77 + os.getpid() % 100}.0"
        self.names = tuple(names)

    def __enter__(self) -> "Network":
        _ip("link", "add", self._bridge, "type", "bridge")
        _ip("addr", "add", f"{self._subnet}.1/24", "dev", self._bridge)
        _ip("link", "set", self._bridge, "up")
        for number, name in enumerate(self.names, start=2):
            outside, inside, space = f"{self._bridge}o{number}", f"{self._bridge}i{number}", self._space(name)
            _ip("netns", "add", space)
            _ip("link", "add", outside, "type", "veth", "peer", "name", inside, "netns", space)
            _ip("link", "set", outside, "master", self._bridge, "up")
            _ip("-n", space, "addr", "add", f"{self._subnet}.{number}/24", "dev", inside)
            for device in (inside, "lo"):
                _ip("-n", space, "link", "set", device, "up")
        return self

    def __exit__(self, *_: object) -> None:
        for name in self.names:
            with suppress(subprocess.CalledProcessError):
                _ip("netns", "del", self._space(name))
        with suppress(subprocess.CalledProcessError):
            _ip("link", "del", self._bridge)

    def address(self, name: str) -> str:
        """Return the address of a machine."""
        return f"{self._subnet}.{self.names.index(name) + 2}"

    def enter(self, name: str) -> tuple[str, ...]:
        """Return the command that runs a program on a machine."""
        return ("ip", "netns", "exec", self._space(name))

    def cut(self, name: str, *, off: bool) -> None:
        """Cut a machine off, or connect it again."""
        device = f"{self._bridge}o{self.names.index(name) + 2}"
        _ip("link", "set", device, "down" if off else "up")

    def _space(self, name: str) -> str:
        return f"{self._bridge}{name}"


class Cluster:
    """Two database machines, one of them the primary, with `pincite serve` and `pincite worker` processes."""

    def __init__(self, folder: Path, network: Network | None, *, servers: int, workers: int) -> None:
        self._folder, self._network = folder, network
        self._made = 0
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.primary = self.replica = Postgres(folder / "db1", *self._machine("db1"))
        try:
            self._begin(servers, workers)
        except BaseException:
            self.close()
            raise

    def _begin(self, servers: int, workers: int) -> None:
        self.primary.make()
        self.primary.run("create database library")
        self.replica = self._copy("db2")
        self._env = {**os.environ, **SETTINGS, "PINCITE_DATABASE_URL": self.url}
        self.key = self._call("key", "create", "--name", "t").split()[-1]
        self.ports = [free_port() for _ in range(servers)]
        self._commands = {
            **{f"server{n}": ("serve", "--port", str(port)) for n, port in enumerate(self.ports)},
            **{f"worker{n}": ("worker", "--workers", "1") for n in range(workers)},
        }
        for name in self._commands:
            self.start(name)

    @property
    def url(self) -> str:
        """The address with both hosts, as in docs/many-machines.md."""
        hosts = sorted((one.host, one.port) for one in (self.primary, self.replica))
        return f"postgresql://postgres@{','.join(f'{host}:{port}' for host, port in hosts)}/library"

    def start(self, name: str) -> None:
        """Start a server or a worker."""
        own = {"PINCITE_DATA": str(self._folder / name), "PINCITE_INGEST__WORKERS": "0"}
        with open(self._folder / f"{name}.log", "ab") as log:
            command = [sys.executable, "-c", RUN, *self._commands[name]]
            self.processes[name] = subprocess.Popen(command, env={**self._env, **own}, stdout=log, stderr=log)

    def restart(self, name: str) -> None:
        """Kill a server or a worker, and start it again."""
        self.processes[name].kill()
        self.processes[name].wait()
        self.start(name)

    def client(self, number: int) -> httpx2.Client:
        """Return a client of one of the servers."""
        port = self.ports[number % len(self.ports)]
        login = {"Authorization": f"Bearer {self.key}"}
        return httpx2.Client(base_url=f"http://{HOST}:{port}", headers=login, timeout=30)

    def close(self) -> None:
        """End every process."""
        for process in self.processes.values():
            process.kill()
            process.wait()
        for machine in (self.primary, self.replica):
            machine.kill()

    def make(self, event: Event) -> float:
        """Let it happen; return the moment from which pincite is to serve again."""
        if event == "kill server":
            self.restart("server0")
        elif event == "kill worker":
            self.restart("worker0")
        elif event == "lag replica":
            self.replica.run("select pg_wal_replay_pause()", database="library")
            time.sleep(LAG_S)
            self.replica.run("select pg_wal_replay_resume()", database="library")
        else:
            return self._fail_over(event)
        return time.monotonic()

    def _fail_over(self, event: Event) -> float:
        name = self.primary.folder.name.split("-")[0]
        if event == "cut off primary":
            assert self._network is not None
            self._network.cut(name, off=True)
        elif event == "switch over":
            self.primary.end()
        else:
            self.primary.kill()
        self.replica.promote()
        promoted = time.monotonic()
        self.primary.kill()  # fenced: a former primary never returns as it was
        if event == "cut off primary":
            assert self._network is not None
            self._network.cut(name, off=False)
        port, self.primary = self.primary.port, self.replica
        self.replica = self._copy(name, port)
        return promoted

    def _copy(self, name: str, port: int | None = None) -> Postgres:
        """Make a synchronous replica on a machine, at the port that the address names."""
        self._made += 1
        copy = self.primary.replica(self._folder / f"{name}-{self._made}", name, *self._machine(name), port=port)
        self.primary.run(f"alter system set synchronous_standby_names = '{name}'", "select pg_reload_conf()")
        until = time.monotonic() + WAIT_S
        while self.primary.run("select sync_state from pg_stat_replication") != [("sync",)]:
            assert time.monotonic() < until, copy.log[-2000:]
            time.sleep(0.05)
        return copy

    def _machine(self, name: str) -> tuple[str, tuple[str, ...]]:
        return (self._network.address(name), self._network.enter(name)) if self._network else (HOST, ())

    def _call(self, *words: str) -> str:
        env = {**self._env, "PINCITE_DATA": str(self._folder / "cli")}
        done = subprocess.run([sys.executable, "-c", RUN, *words], env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout


class Clients:
    """Upload, search and ask without pause; they remember what was acknowledged and what was refused."""

    def __init__(self, cluster: Cluster, count: int) -> None:
        self._cluster = cluster
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self.acknowledged: list[str] = []
        self.served: list[float] = []
        self.refused = dict[str, int]()
        self.asked = 0
        self._threads = [threading.Thread(target=self._work, args=(number,), daemon=True) for number in range(count)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop all clients."""
        self._stop.set()
        for thread in self._threads:
            thread.join(60)

    def wait_for(self, count: int, since: float = 0.0) -> float:
        """Wait until so many uploads were acknowledged that began after a moment; return when the first was."""
        until = time.monotonic() + WAIT_S
        while True:
            with self._lock:
                later = [moment for moment in self.served if moment > since]
            if len(later) >= count:
                return later[0]
            assert time.monotonic() < until, f"nothing was acknowledged for {WAIT_S:g} s: {self.refused}"
            time.sleep(0.02)

    def _work(self, number: int) -> None:
        chosen = random.Random(number)
        turn = 0
        while not self._stop.is_set():
            turn += 1
            name = f"c{number}n{turn}"
            try:
                with self._cluster.client(number + turn) as client:
                    self._upload(client, name)
                    if self.acknowledged:
                        wanted = chosen.choice(self.acknowledged)
                        self._count(client.post(f"{API}/search", json={"query": f"marker{wanted}"}))
                        self._count(client.post(f"{API}/query", json={"query": f"Where is marker{wanted}?"}))
            except httpx2.TransportError as error:
                self._refuse(type(error).__name__)
                self._stop.wait(0.1)

    def _upload(self, client: httpx2.Client, name: str) -> None:
        text = f"# {name}\n\nmarker{name} lies in the drawer number {len(name)}.\n"
        response = client.post(f"{API}/documents/upload", files={"file": (f"{name}.md", text.encode())})
        if response.status_code in (200, 202):
            with self._lock:
                self.acknowledged.append(name)
                self.served.append(time.monotonic())
        else:
            self._count(response)

    def _count(self, response: httpx2.Response) -> None:
        self.asked += 1
        if response.status_code >= 400:
            self._refuse(f"{response.status_code} {response.json().get('code', '')}")

    def _refuse(self, why: str) -> None:
        with self._lock:
            self.refused[why] = self.refused.get(why, 0) + 1
        self._stop.wait(0.05)


@contextmanager
def running(
    folder: Path, network: Network | None, *, servers: int, workers: int, clients: int
) -> Iterator[tuple[Cluster, Clients]]:
    """Run a cluster with clients; both are ended."""
    with ExitStack() as stack:
        cluster = Cluster(folder, network, servers=servers, workers=workers)
        stack.callback(cluster.close)
        busy = Clients(cluster, clients)
        stack.callback(busy.stop)
        yield cluster, busy


def check(cluster: Cluster, acknowledged: Sequence[str]) -> dict[str, int]:
    """Wait until all documents are processed; return how many acknowledged ones are lost, half there or doubled."""
    until = time.monotonic() + WAIT_S
    with psycopg.connect(cluster.primary.url(), autocommit=True) as connection:
        while connection.execute("select count(*) from pincite.job").fetchone() != (0,):
            assert time.monotonic() < until, "jobs are left"
            time.sleep(0.2)
        wrong = connection.execute(INCOMPLETE).fetchall()
        served = "select name from pincite.document where status = 'completed' and served is not null"
        names = [re.sub(r"\.md$", "", str(name)) for (name,) in connection.execute(served.encode())]
    doubled = [one for one in wrong if one[1] == "there twice"]
    return {
        "lost": len(set(acknowledged) - set(names)),
        "half-indexed": len(wrong) - len(doubled),
        "doubled": len(doubled),
    }


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)
