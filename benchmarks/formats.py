"""Parse every file of a folder as the product does: result, extracted content, time and memory per file.

    ./run bench formats --data DIR [--engine] [--write]

Parses all files of DIR/documents, or of DIR if there is no such folder, one after the other in the parser's own child
process. `--engine` then adds them all to a new library (with an embedder that costs nothing) and compares the results.
Prints a summary by type, the files that failed with their reasons, and a line for each file; `--write` updates
docs/formats.md.
"""

import argparse
import asyncio
import re
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Self

from pincite.config.settings import Settings
from pincite.core.documents.document import Parsed, Upload
from pincite.engine.app import AsyncPincite
from pincite.errors import PinciteError
from pincite.ingest.accept.accept import accept
from pincite.ingest.accept.collect import collect
from pincite.ingest.read.reader_pool import Reader

_HEADING = re.compile(r"^#{1,6} \S", re.MULTILINE)
_RULE = re.compile(r"^\|(?: ?:?-+:? ?\|)+$", re.MULTILINE)
LOOK_S = 0.01
PAGE = Path(__file__).parent.parent / "docs" / "formats.md"
BEGIN, END = "<!-- outcomes -->", "<!-- /outcomes -->"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one file ended: read, or not for a reason; what came out of it, and what it took."""

    name: str
    outcome: str
    reason: str = ""
    kind: str = ""
    pages: int = 0
    chars: int = 0
    headings: int = 0
    tables: int = 0
    ms: float = 0.0
    peak_mb: float = 0.0

    @property
    def type(self) -> str:
        """The ending of its name."""
        return Path(self.name).suffix.lower().lstrip(".")


class Peak:
    """The most memory that the reader's child took, in MB, from when it was entered; counted by the kernel."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._ended = threading.Event()
        self.mb = 0.0

    def __enter__(self) -> Self:
        for pid in self._pids():
            with suppress(OSError):
                Path(f"/proc/{pid}/clear_refs").write_text("5")
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._ended.wait(LOOK_S):
            self._look()

    def _look(self) -> None:
        for pid in self._pids():
            with suppress(OSError, IndexError):
                told = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
                self.mb = max(self.mb, int(told.partition("VmHWM:")[2].split()[0]) / 1024)

    def _pids(self) -> list[int]:
        return [child.process.pid for child in (*self._reader._idle, *self._reader._busy)]


async def read_all(files: Iterable[Path], settings: Settings) -> list[Outcome]:
    """How each file ends in the reader."""
    limits = settings.ingest
    reader = Reader(children=1, memory_mb=limits.parse_memory_mb, timeout_s=limits.parse_timeout_s)
    try:
        await reader.read(b"# Warm\n", "markdown", settings.chunking)
        return [await read_one(path, reader, settings) for path in files]
    finally:
        await reader.close()


async def read_one(path: Path, reader: Reader, settings: Settings) -> Outcome:
    """How one file ends."""
    data = path.read_bytes()
    try:
        accepted = accept(Upload(path.name, data), settings)
    except PinciteError as error:
        return Outcome(path.name, "refused", f"{error.code}: {error}")
    started = time.perf_counter()
    with Peak(reader) as peak:
        try:
            parsed = (await reader.read(data, accepted.parser, settings.chunking)).parsed
            found = came_out(path.name, parsed)
        except PinciteError as error:
            found = {"outcome": "error", "reason": f"{error.code}: {error}"}
    ms = (time.perf_counter() - started) * 1000
    return Outcome(path.name, **found, ms=ms, peak_mb=peak.mb)  # type: ignore[arg-type]


def came_out(name: str, parsed: Parsed) -> dict[str, object]:
    """What is in the text of a file."""
    kinds = {page.kind for page in parsed.pages}
    return {
        "outcome": "completed", "kind": "/".join(sorted(kinds)), "pages": len(parsed.page_starts),
        "chars": len(parsed.text), "headings": len(_HEADING.findall(parsed.text)),
        "tables": len(_RULE.findall(parsed.text)),
    }  # fmt: skip


async def through_the_engine(files: Sequence[Path], data: Path) -> dict[str, str]:
    """How each file ends when it is added to a library."""
    async with AsyncPincite(data, settings={"embedding.provider": "scripted"}) as pincite:
        result = await pincite.add_all(collect(list(files)))
        ended = {one.document.name: str(one.document.status) for one in result.added}
    return ended | {Path(path).name: "refused" for path, _ in result.refused}


def _summary(outcomes: Sequence[Outcome]) -> str:
    lines = [
        "| type | files | read | not read | pages | characters | headings | tables | ms (median) | ms (most) | MB (most) |"
    ]
    lines.append("|---|---|---|---|---|---|---|---|---|---|---|")
    for kind in sorted({one.type for one in outcomes}):
        some = [one for one in outcomes if one.type == kind]
        read = [one for one in some if one.outcome == "completed"]
        took = [one.ms for one in some if one.ms] or [0.0]
        lines.append(
            f"| {kind} | {len(some)} | {len(read)} | {len(some) - len(read)} | {sum(o.pages for o in read):,} "
            f"| {sum(o.chars for o in read):,} | {sum(o.headings for o in read):,} | {sum(o.tables for o in read):,} "
            f"| {median(took):,.0f} | {max(took):,.0f} | {max(o.peak_mb for o in some):,.0f} |"
        )
    return "\n".join(lines)


def _unread(outcomes: Sequence[Outcome]) -> str:
    """Those that were not read, by type and reason."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for one in outcomes:
        if one.outcome != "completed":
            reason = one.reason.replace(f"'{one.name}'", "it")
            groups.setdefault((one.type, one.outcome, reason), []).append(Path(one.name).stem)
    lines = ["| type | files | outcome | reason | which |", "|---|---|---|---|---|"]
    for (kind, outcome, reason), names in sorted(groups.items()):
        code, _, words = reason.partition(": ")
        lines.append(f"| {kind} | {len(names)} | {outcome} `{code}` | {_cell(words)} | {_cell(', '.join(names))} |")
    return "\n".join(lines)


def _files(outcomes: Sequence[Outcome]) -> str:
    lines = [
        "| file | outcome | pages | characters | headings | tables | ms | MB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {_cell(o.name)} | {o.outcome} | {o.pages or ''} | {o.chars:,} | {o.headings} | {o.tables} "
        f"| {o.ms:,.0f} | {o.peak_mb:,.0f} |"
        for o in outcomes
    ]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")


def main() -> None:
    """Read them all and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--engine", action="store_true", help="also add them all to a library")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/formats.md")
    arguments = parser.parse_args()
    folder = arguments.data / "documents"
    files = sorted(path for path in (folder if folder.is_dir() else arguments.data).iterdir() if path.is_file())
    outcomes = asyncio.run(read_all(files, Settings()))
    told = "\n\n".join((_summary(outcomes), _unread(outcomes), _files(outcomes)))
    if arguments.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n{told}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    else:
        print(told)
    print(dict(Counter(one.outcome for one in outcomes)), file=sys.stderr)
    if arguments.engine:
        with tempfile.TemporaryDirectory() as temporary:
            ended = asyncio.run(through_the_engine(files, Path(temporary) / "data"))
        other = [(o.name, o.outcome, ended.get(o.name)) for o in outcomes if ended.get(o.name) != o.outcome]
        print(f"through the engine: {dict(Counter(ended.values()))}; ends otherwise: {other}", file=sys.stderr)


if __name__ == "__main__":
    main()
