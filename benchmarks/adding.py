"""Add a documentation tree with the command line: once, again unchanged, and again with one changed file.

    ./run bench adding --data DIR | --documents DIR [--work DIR]

Each step is a separate process; its start and that of the database are included. `--work` must be a folder without
documents; creating its database is not measured.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks._documentation import add_arguments, copy_tree, markdown_files
from pincite.ingest.accept.collect import collect

PINCITE = [sys.executable, "-c", "from pincite.cli import main; raise SystemExit(main())"]
LIMIT_S = 1800
GOAL = 1 / 20
CHANGE = "\n\nThis paragraph was added while the time was taken.\n"


@dataclass(frozen=True, slots=True)
class Step:
    """One call of `pincite add`: how long it took and the line it ended with."""

    name: str
    seconds: float
    said: str

    def outcome(self, word: str) -> int:
        """How many files the command said this of; 0 where it did not mention it."""
        found = re.search(rf"([\d,]+) {word}", self.said)
        return int(found[1].replace(",", "")) if found else 0


def pincite(data: Path, *arguments: str) -> str:
    """Run the command line to its end and return what it printed."""
    command = [*PINCITE, *arguments, "--data", str(data)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode:
        sys.exit(f"pincite {arguments[0]} failed with {done.returncode}: {(done.stderr or done.stdout).strip()[-500:]}")
    return done.stdout


def add(name: str, data: Path, tree: Path) -> Step:
    """Add the tree and take the time."""
    started = time.monotonic()
    said = pincite(data, "add", str(tree))
    return Step(name, time.monotonic() - started, " ".join(said.split()))


def chunk_count(data: Path) -> int:
    """Passages in the library."""
    return sum(document["chunks"] for document in json.loads(pincite(data, "list", "--json"))["items"])


def check(steps: list[Step], files: int) -> list[str]:
    """What the commands should have said and did not."""
    first, again, changed = steps
    expected = [
        (first, "added", files), (first, "unchanged", 0),
        (again, "unchanged", files), (again, "added", 0), (again, "new version", 0),
        (changed, "new version", 1), (changed, "unchanged", files - 1), (changed, "added", 0),
    ]  # fmt: skip
    return [
        f"{step.name}: {step.outcome(word)} {word} instead of {wanted}"
        for step, word, wanted in expected
        if step.outcome(word) != wanted
    ]


def report(steps: list[Step], chunks: int) -> None:
    """The table, then speed and ratio."""
    print("| step | s | the command said |\n|---|---|---|")
    for step in steps:
        print(f"| {step.name} | {step.seconds:.1f} | {step.said} |")
    first, again, changed = (step.seconds for step in steps)
    print(f"\n{chunks} chunks, {chunks / first:.1f} chunks/s")
    print(f"second / first: {again / first:.3f} = 1/{first / again:.0f} (goal ≤ 1/{1 / GOAL:.0f})")
    print(f"one file changed / first: {changed / first:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument("--work", type=Path, help="data folder to keep")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        tree = copy_tree(arguments, Path(temporary) / "tree")
        data = arguments.work or Path(temporary) / "data"
        if chunk_count(data):
            sys.exit(f"{data} holds documents already; give --work a new folder")
        files = [file.path for file in collect([tree]).files]
        print(f"{len(files)} files, {sum(path.stat().st_size for path in files) / 1e6:.1f} MB\n", flush=True)
        steps = [add("first", data, tree)]
        chunks = chunk_count(data)
        steps.append(add("again", data, tree))
        pages = markdown_files(tree)
        with open(pages[len(pages) // 2], "a", encoding="utf-8") as file:
            file.write(CHANGE)
        steps.append(add("one file changed", data, tree))
        report(steps, chunks)
        if wrong := check(steps, len(files)):
            sys.exit("not as it should be: " + "; ".join(wrong))


if __name__ == "__main__":
    main()
