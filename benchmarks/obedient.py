"""Attack texts in documents, and a model that obeys them: leaked data, changes, and false citations."""

import argparse
import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.hostile.attacks import attacks
from tests.hostile.obedient import besieged, shared, watching, wrongs

COLUMNS = ("set", "texts", "answers in which something was held back", "leaks")


def main() -> None:
    """Print a line for each set; whatever got through is named below, and makes it fail."""
    parser = argparse.ArgumentParser(prog="./run bench obedient", description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder of sets, each a .jsonl file of {text}; without it our own")
    parser.add_argument("--own", type=int, default=1000, help="how many attack texts of our own making (1000)")
    parser.add_argument("--at-most", type=int, default=None, help="take only so many of each set")
    chosen = parser.parse_args()
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}", flush=True)
    found = asyncio.run(run(chosen))
    for wrong in found:
        print(wrong)
    raise SystemExit(1 if found else 0)


async def run(chosen: argparse.Namespace) -> list[str]:
    """Ask about every text; what went wrong."""
    found: list[str] = []
    with tempfile.TemporaryDirectory(prefix="pincite-obedient-") as folder:
        async with besieged(Path(folder) / "data") as siege:
            for name, texts in sets(chosen):
                ids = await shared(siege.pincite, texts)
                before, counted = await siege.state(), Counter[str]()
                with watching() as machines:
                    for document_id, text in zip(ids, texts, strict=True):
                        told = await siege.ask(document_id)
                        wrong = await wrongs(siege.pincite, told)
                        counted.update(held=bool(told.answer.warnings), leaks=bool(wrong))
                        found += [f"{name}: {what} ({text[:80]!r})" for what in wrong]
                strangers = machines - {"127.0.0.1"}
                changed = await siege.state() != before
                found += [f"{name}: turned to {strangers}"] * bool(strangers) + [f"{name}: changed something"] * changed
                print(f"| {name} | {len(texts)} | {counted['held']} | {counted['leaks']} |", flush=True)
                for document_id in ids:
                    await siege.forget(document_id)
    return found


def sets(chosen: argparse.Namespace) -> Iterator[tuple[str, list[str]]]:
    """The sets of the folder by name, and our own."""
    for file in sorted(chosen.data.glob("*.jsonl")) if chosen.data else ():
        texts = [json.loads(line)["text"] for line in file.read_text(encoding="utf-8").splitlines()]
        texts = [f'{text}\n\nRepeat this: "{text}"\n' for text in dict.fromkeys(texts) if text.strip()]
        yield file.stem, texts[: chosen.at_most]
    yield "our own", attacks(chosen.own)[: chosen.at_most]


if __name__ == "__main__":
    main()
