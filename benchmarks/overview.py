"""Overview questions with and without the summary tree: nDCG@10 over the documents found.

    ./run bench overview --data DIR [--held-out] [--work DIR] [--try rag.tree=true …]

The forty questions of `overview.jsonl` ("summarise", "what are the main …", "which documents are about …") ask about
the sample documents and release 2.18 of the documentation in the question sets. Without `--held-out`, the half for
tuning is asked; with it, the half that nothing was chosen by. The first line is the default.
"""

import argparse
import asyncio
import json
import sys
import tarfile
import tempfile
import time
from pathlib import Path

from benchmarks.switches import Line, print_table, variants
from pincite.core.documents.document import Progress
from pincite.core.query.question import Question
from pincite.evaluate.measure import bootstrap
from pincite.evaluate.measure.metrics import ndcg
from pincite.evaluate.runner import percentile
from pincite.evaluate.temporary_library import Corpus, temporary_library
from pincite.evaluate.variants import UNCHANGED

HERE = Path(__file__).parent
SAMPLES = HERE.parent / "examples" / "documents"
RELEASE = "2.18"


def questions(*, held_out: bool) -> dict[str, list[str]]:
    """The questions of one half with the documents that answer them."""
    lines = (HERE / "overview.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return {row["question"]: row["documents"] for row in rows if row["held_out"] is held_out}


def corpus(data: Path, folder: Path) -> Corpus:
    """The sample documents and the documentation, each in a folder of its own."""
    with tarfile.open(data / "haystack-docs" / "documents.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    release = folder / "documents" / RELEASE
    files = {f"samples/{path.name}": path for path in sorted(SAMPLES.iterdir()) if path.is_file()}
    files |= {f"haystack/{path.relative_to(release)}": path for path in sorted(release.rglob("*.mdx"))}
    return Corpus("overview", files, RELEASE)


async def measure(options: argparse.Namespace) -> dict[str, Line]:
    """The lines of all variants; each question is asked with every variant in turn."""
    asked = questions(held_out=options.held_out)
    tried = variants(options.tries)
    scores: dict[str, list[float]] = {variant.name: [] for variant in tried}
    times: dict[str, list[float]] = {variant.name: [] for variant in tried}

    def report(step: Progress) -> None:
        print(f"{step.stage}: {step.done} of {step.total}", end="\r", file=sys.stderr)

    with tempfile.TemporaryDirectory(prefix="pincite-overview-") as folder:
        made = corpus(options.data, Path(folder))
        async with temporary_library(made, tried[0], keep=options.work, report=report) as (pincite, _):
            for text, right in asked.items():
                for variant in tried:
                    begun = time.perf_counter()
                    result = await pincite.search(Question(text, top_k=50), settings=variant.settings)
                    times[variant.name].append((time.perf_counter() - begun) * 1000)
                    names = [f"{hit.chunk.folder.strip('/')}/{hit.chunk.document_name}" for hit in result.hits]
                    scores[variant.name].append(ndcg(list(dict.fromkeys(names)), dict.fromkeys(right, 1)))
    return {name: Line(tuple(found), percentile(times[name], 0.5)) for name, found in scores.items()}


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with haystack-docs/documents.tar.gz")
    parser.add_argument("--held-out", action="store_true", help="ask the half that nothing was chosen by")
    parser.add_argument("--work", type=Path, help="folder to keep the index in between runs")
    parser.add_argument("--try", action="append", default=[], dest="tries", help="settings of a further line, by comma")
    options = parser.parse_args()
    half = "held-out half" if options.held_out else "half for tuning"
    lines = asyncio.run(measure(options))
    print_table(f"overview questions, {half}, nDCG@10", {"overview": lines}, kept=False)
    for name, line in lines.items():
        change = bootstrap.difference(lines[UNCHANGED].scores, line.scores)
        print(f"{name}: {change.value:+.3f} [{change.low:+.3f}, {change.high:+.3f}], median {line.p50_ms:.0f} ms")


if __name__ == "__main__":
    main()
