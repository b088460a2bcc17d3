"""Quality, speed and memory compared with txtai, Haystack, LlamaIndex and LangChain: same documents, same embedder.

    ./run bench peers --data DIR [--sets hotpotqa100 musique100 scifact] [--work DIR] [--out DIR] [--only NAME …]

Each system runs in its own process, and the others in their own environments, which `--work` keeps for the next run;
creating them needs a package index. All systems add the same documents, one after the other, and then answer a few
questions in turn, so that other load on the machine affects all of them.
"""

import argparse
import gzip
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from benchmarks._memory import Peak
from benchmarks.peers.environments import (
    ROOT,
    SYSTEMS,
    NotInstalled,
    lay_out_model,
    python_for,
    surroundings,
)
from benchmarks.peers.report import Line, plot, table
from pincite.evaluate.measure.metrics import ndcg
from pincite.evaluate.questions.datasets import QuestionSet, load_set

SETS = ("hotpotqa100", "musique100", "scifact")
BLOCK = 10


class Seat:
    """A system's process from outside."""

    def __init__(self, system: str, work: Path) -> None:
        self.system = system
        self._place = work / f"seat-{system}"
        shutil.rmtree(self._place, ignore_errors=True)
        self._place.mkdir()
        (self._place / "model").symlink_to((work / "model").resolve())
        self._log = open(work / f"{system}.log", "w", encoding="utf-8")  # noqa: SIM115
        command = [str(python_for(system, work)), "-m", "benchmarks.peers.seat", system, str(self._place.resolve())]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True, cwd=ROOT,
            env=surroundings(),
        )  # fmt: skip
        # The others keep all they have in one process.
        self.peak = Peak(self._process.pid, self._place if system == "pincite" else None)

    def __enter__(self) -> Self:
        self.durable: str = self._answer()["durable"]
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._log.close()
        shutil.rmtree(self._place, ignore_errors=True)

    def order(self, **what: Any) -> dict[str, Any]:
        """Tell it what to do and wait for the answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{json.dumps(what)}\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        if line := self._process.stdout.readline():
            return json.loads(line)  # type: ignore[no-any-return]
        said = Path(self._log.name).read_text(encoding="utf-8", errors="replace").strip().splitlines()
        raise SystemExit(f"{self.system} ended early: {said[-1] if said else 'it said nothing'} (see {self._log.name})")


def compare(questions: QuestionSet, systems: Sequence[str], work: Path) -> list[Line]:
    """One set through every system."""
    corpus = work / f"{questions.name}.jsonl.gz"
    with gzip.open(corpus, "wt", encoding="utf-8") as file:
        for key, (title, text) in questions.corpus.items():
            body = f"# {title}\n\n{text}\n" if title else f"{text}\n"
            file.write(f"{json.dumps({'_id': key, 'text': body})}\n")
    with ExitStack() as stack:
        seats = [stack.enter_context(Seat(system, work)) for system in systems]
        rates = {}
        for seat in seats:
            with seat.peak:
                rates[seat] = len(questions.corpus) / seat.order(add=str(corpus.resolve()))["seconds"]
            print(f"{questions.name}: {seat.system} added {rates[seat]:.1f} documents/s", flush=True)
        gains: dict[Seat, list[float]] = {seat: [] for seat in seats}
        times: dict[Seat, list[float]] = {seat: [] for seat in seats}
        for block in _blocks(questions):
            for seat in seats:
                answers = seat.order(ask=[text for _, text in block])["found"]
                for (key, _), (found, took) in zip(block, answers, strict=True):
                    gains[seat].append(ndcg(found, questions.qrels[key]))
                    times[seat].append(took)
                seat.peak.look()
        return [
            Line(questions.name, seat.system, seat.durable, statistics.fmean(gains[seat]), rates[seat],
                 statistics.median(times[seat]), statistics.quantiles(times[seat], n=20)[18], seat.peak.mb)
            for seat in seats
        ]  # fmt: skip


def _blocks(questions: QuestionSet) -> Iterator[list[tuple[str, str]]]:
    asked = list(questions.queries.items())
    for first in range(0, len(asked), BLOCK):
        yield asked[first : first + BLOCK]


def main() -> None:
    """Make the environments, compare set after set, and write the table, the picture and the bare figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the question sets")
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--only", nargs="+", default=list(SYSTEMS), choices=SYSTEMS, metavar="SYSTEM")
    parser.add_argument("--work", type=Path, help="folder that keeps the environments")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"), help="folder for peers.md, .svg, .json")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = arguments.work or Path(temporary)
        lay_out_model(work)
        missing: dict[str, str] = {}
        for system in arguments.only:
            try:
                python_for(system, work)
            except NotInstalled as error:
                print(f"{system} cannot be installed: {error}", file=sys.stderr)
                missing[system] = str(error)
        here = [system for system in arguments.only if system not in missing]
        lines: list[Line] = []
        for name in arguments.sets:
            lines += compare(load_set(arguments.data / name), here, work)
            _write(arguments.out, lines, missing)
    print(f"\n{table(lines, missing)}")


def _write(out: Path, lines: Sequence[Line], missing: dict[str, str]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    (out / "peers.md").write_text(table(lines, missing), encoding="utf-8")
    (out / "peers.svg").write_text(plot(lines), encoding="utf-8")
    (out / "peers.json").write_text(json.dumps([asdict(line) for line in lines], indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
