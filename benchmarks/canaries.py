"""Words of what one may not read: thousands of requests by others through every door, and none of them comes back."""

import argparse
import logging
import tempfile
import time
from pathlib import Path

from tests.api.door import Door
from tests.hostile.sweep import OWNER, REQUEST_MAKERS, ROLES, leaks, requests, world


def main() -> None:
    """Print what was asked and what was found; fail where anything was."""
    parser = argparse.ArgumentParser(prog="./run bench canaries", description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000, help="how many (10000)")
    parser.add_argument("--seed", type=int, default=7, help="which ones (7)")
    chosen = parser.parse_args()
    logging.getLogger("pincite").setLevel(logging.ERROR)  # what is asked for wrongly is told in every answer
    with tempfile.TemporaryDirectory(prefix="pincite-canaries-") as folder, Door(Path(folder) / "data") as door:
        made, began, found = world(door), time.monotonic(), list[str]()
        for n, request in enumerate(requests(made, chosen.requests, chosen.seed)):
            found += leaks(made, f"canary {ROLES[n % len(ROLES)]}", request)
        spent = time.monotonic() - began
        control = sum(bool(leaks(made, OWNER, request)) for request in requests(made, len(REQUEST_MAKERS)))
        made.close()
    print(
        "| requests | ways in | secret words | leaks | of the owner's own, for comparison | s |\n|---|---|---|---|---|---|"
    )
    own = f"{control} of {len(REQUEST_MAKERS)}"
    print(f"| {chosen.requests} | {len(REQUEST_MAKERS)} | {len(made.secret)} | {len(found)} | {own} | {spent:.0f} |")
    for leak in found:
        print(leak)
    raise SystemExit(1 if found or not control else 0)


if __name__ == "__main__":
    main()
