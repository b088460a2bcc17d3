"""The prompt injection detector: misses and false positives, by set."""

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pincite.text.injection import notices

COLUMNS = ("set", "attacks", "found", "missed", "harmless", "false alarms")
ALARMS = 0.003
"""The largest share of harmless texts that may be flagged."""


@dataclass(frozen=True)
class Line:
    """What one set says about the detector."""

    name: str
    attacks: int
    found: int
    harmless: int
    alarms: tuple[str, ...]


def main() -> None:
    """Print a line for each set and their sum; fail where too much that is harmless is flagged."""
    parser = argparse.ArgumentParser(prog="./run bench injection", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="a folder of sets: .jsonl files of {text, label}")
    parser.add_argument("--alarms", action="store_true", help="print what was wrongly flagged")
    chosen = parser.parse_args()
    began = time.perf_counter()
    lines = list(judged(chosen.data))
    harmless, alarms = sum(line.harmless for line in lines), [text for line in lines for text in line.alarms]
    whole = Line("all", sum(x.attacks for x in lines), sum(x.found for x in lines), harmless, tuple(alarms))
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for line in (*lines, whole):
        cells = (line.name, line.attacks, line.found, line.attacks - line.found, line.harmless, len(line.alarms))
        print(f"| {' | '.join(map(str, cells))} |")
    texts = sum(line.attacks + line.harmless for line in lines)
    print(f"{1000 * (time.perf_counter() - began) / max(1, texts):.2f} ms a text")
    for text in alarms if chosen.alarms else ():
        print(repr(text[:200]))
    raise SystemExit(1 if len(alarms) > ALARMS * harmless else 0)


def judged(folder: Path) -> Iterator[Line]:
    """Every set of the folder; those made to test what an answer may hold are not about wording and left out."""
    for file in sorted(folder.glob("*.jsonl")):
        if "payload" in file.stem:
            continue
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        attacks = [row["text"] for row in rows if row["label"]]
        harmless = [row["text"] for row in rows if not row["label"]]
        alarms = tuple(text for text in harmless if notices(text))
        yield Line(file.stem, len(attacks), sum(bool(notices(text)) for text in attacks), len(harmless), alarms)


if __name__ == "__main__":
    main()
