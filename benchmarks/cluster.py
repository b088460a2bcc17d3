"""A primary, a synchronous replica, two servers, two workers and 8 clients; machines fail, and nothing may be lost."""

import argparse
import os
import shutil
import statistics
import time
from collections import defaultdict
from contextlib import nullcontext

from benchmarks._cluster import EVENTS, Network, check, running
from benchmarks._machines import place


def main() -> None:
    """Let every event happen in turn; print how long it took until an upload was acknowledged again."""
    parser = argparse.ArgumentParser(prog="./run bench cluster", description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, help="how often something happens (20)")
    parser.add_argument("--clients", type=int, default=8, help="clients that upload, search and ask (8)")
    chosen = parser.parse_args()
    spaces = os.geteuid() == 0 and shutil.which("ip") is not None
    events = [event for event in EVENTS if spaces or event != "cut off primary"]
    took = defaultdict[str, list[float]](list)
    with (
        place() as folder,
        Network(["db1", "db2"]) if spaces else nullcontext() as network,
        running(folder, network, servers=2, workers=2, clients=chosen.clients) as (cluster, clients),
    ):
        clients.wait_for(5)
        for number in range(chosen.rounds):
            event = events[number % len(events)]
            ready = cluster.make(event)
            took[event].append(max(0.0, clients.wait_for(1, ready) - ready))
            clients.wait_for(3, time.monotonic())
            print(f"round {number + 1}: {event}, served again after {took[event][-1]:.1f} s", flush=True)
        clients.stop()
        found = check(cluster, clients.acknowledged)
    print("\n| event | rounds | served again after, median | maximum |\n|---|---|---|---|")
    for what, seconds in took.items():
        print(f"| {what} | {len(seconds)} | {statistics.median(seconds):.1f} s | {max(seconds):.1f} s |")
    print(f"\nacknowledged {len(clients.acknowledged)}, asked {clients.asked}, refused {clients.refused}; {found}")
    if not spaces:
        print("without root and `ip` there are no network namespaces: no machine was cut off")
    if any(found.values()):
        raise SystemExit("documents were lost, incomplete or doubled")


if __name__ == "__main__":
    main()
