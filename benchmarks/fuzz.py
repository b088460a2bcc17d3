"""Requests generated from the API schema, valid and invalid, to every route: none may cause a server error."""

import argparse
import logging
import tempfile
from pathlib import Path

from tests.api.live_server import LiveServer
from tests.hostile.fuzzing import broken, operations


def main() -> None:
    """Print how many routes were asked how often; fail where one answered 500 or more."""
    parser = argparse.ArgumentParser(prog="./run bench fuzz", description=__doc__)
    parser.add_argument("--examples", type=int, default=200, help="requests to each route (200)")
    chosen = parser.parse_args()
    logging.getLogger("pincite").setLevel(logging.ERROR)  # what is asked for wrongly is told in every answer
    wrong: list[str] = []
    routes = 0
    with tempfile.TemporaryDirectory(prefix="pincite-fuzz-") as folder, LiveServer(Path(folder) / "data") as door:
        door.add("real", leave="# Leave\n\nFive vacation days carry over.\n")
        for operation in operations(door.url):
            routes += 1
            wrong += broken(operation, door.url, door.keys["administrator"], chosen.examples)
    print(
        f"| routes | requests to each | answered with 500 or more |\n|---|---|---|\n| {routes} | {chosen.examples} | {len(wrong)} |"
    )
    for one in wrong:
        print(one)
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
