"""Sentences from the end of 500-token chunks: whether they are found as well as those from the start.

    ./run bench tails --data DIR | --documents DIR [--work DIR] [--chunks 300]

An embedder that truncates long chunks silently loses their end. So the unique paragraphs of the documentation are
joined to long documents without headings. Of every long chunk, one sentence of the first fifth and one of the last
fifth, both unique, are searched for. A sentence counts as found if the first result contains it.
"""

import argparse
import asyncio
import random
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks._documentation import add_arguments, copy_tree, markdown_files
from pincite import AsyncPincite
from pincite.core.documents.document import Chunk, ChunkLevel, Upload
from pincite.core.query.question import Question, Strategy
from pincite.text.markdown_blocks import blocks
from pincite.text.sentences import normalise, sentences

MIN_TOKENS, MIN_SENTENCES, FIFTH = 400, 6, 0.2
WORDS = range(8, 41)
STRATEGIES: tuple[Strategy, ...] = ("hybrid", "dense_only")
GOAL = 0.95


@dataclass(frozen=True, slots=True)
class Probe:
    """A long chunk's document, and a sentence out of each end of the chunk."""

    document_id: str
    head: str
    tail: str


def long_documents(tree: Path) -> dict[str, str]:
    """One text for each folder of the tree: the paragraphs of its files, none of them twice in the library."""
    seen: set[str] = set()
    texts: dict[str, list[str]] = {}
    for path in markdown_files(tree):
        text = normalise(path.read_text(encoding="utf-8"))
        for block in blocks(text, "markdown"):
            paragraph = text[block.start : block.end]
            if block.kind == "prose" and _is_prose(paragraph) and paragraph not in seen:
                seen.add(paragraph)
                texts.setdefault(path.parent.relative_to(tree).as_posix(), []).append(paragraph)
    return {name: "\n\n".join(paragraphs) for name, paragraphs in texts.items()}


def _is_prose(paragraph: str) -> bool:
    """Whether it is told to the reader rather than to the site's generator."""
    return len(paragraph.split()) >= WORDS.start and not paragraph.startswith(("<", "import ", ":::", "---", "title:"))


def probe(document_id: str, chunk: Chunk, library: str, choose: random.Random) -> Probe | None:
    """A sentence out of each end of a long chunk; none where the chunk is short or has too few sentences."""
    spans = [
        (start, end)
        for start, end in sentences(chunk.text)
        if len(chunk.text[start:end].split()) in WORDS and library.count(chunk.text[start:end]) == 1
    ]
    length = len(chunk.text)
    heads = [chunk.text[start:end] for start, end in spans if end <= FIFTH * length]
    tails = [chunk.text[start:end] for start, end in spans if start >= (1 - FIFTH) * length]
    if chunk.tokens < MIN_TOKENS or len(spans) < MIN_SENTENCES or not heads or not tails:
        return None
    return Probe(document_id, choose.choice(heads), choose.choice(tails))


async def fill(pincite: AsyncPincite, texts: dict[str, str]) -> list[str]:
    """Add the long documents and wait until all can be found."""
    ids = []
    for name, text in texts.items():
        added = await pincite.documents.upload(Upload(f"{name.replace('/', '-')}.md", f"{text}\n".encode()))
        ids.append(added.document.id)
    pincite.services.workers.start()
    await pincite.documents.wait(ids)
    return ids


async def probes(pincite: AsyncPincite, texts: dict[str, str], count: int) -> list[Probe]:
    """So many probes at most, drawn from all documents, the same every time."""
    document_ids, library = await fill(pincite, texts), "\n\n".join(texts.values())
    choose, scope = random.Random(7), await pincite.scope()
    found: list[Probe] = []
    sizes: list[int] = []
    for document_id in document_ids:
        _, chunks = await pincite.services.library.chunks(scope, document_id, ChunkLevel.CHUNK)
        sizes += [chunk.tokens for chunk in chunks]
        found += [made for chunk in chunks if (made := probe(document_id, chunk, library, choose))]
    middle = statistics.median(sizes)
    print(f"{len(document_ids)} documents, {len(sizes)} chunks of {middle:.0f} tokens (median), {len(found)} usable\n")
    return choose.sample(found, min(count, len(found)))


async def recall_at_1(pincite: AsyncPincite, wanted: list[tuple[str, str]], strategy: Strategy) -> float:
    """How often the first hit is of the right document and holds the sentence: overlap puts some into two chunks."""
    found = []
    for document_id, sentence in wanted:
        hits = (await pincite.search(Question(sentence, top_k=1, strategy=strategy))).hits
        found.append(any(hit.chunk.document_id == document_id and sentence in hit.chunk.text for hit in hits))
    return statistics.fmean(found)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument("--work", type=Path, help="data folder to keep between runs")
    parser.add_argument("--chunks", type=int, default=300, help="chunks to try at most")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        tree = copy_tree(arguments, Path(temporary))
        async with AsyncPincite(arguments.work or Path(temporary) / "data") as pincite:
            tried = await probes(pincite, long_documents(tree), arguments.chunks)
            heads = [(one.document_id, one.head) for one in tried]
            tails = [(one.document_id, one.tail) for one in tried]
            print(f"| strategy | recall@1 heads | recall@1 tails | tails / heads (goal ≥ {GOAL}) | chunks |")
            print("|---|---|---|---|---|")
            for strategy in STRATEGIES:
                head = await recall_at_1(pincite, heads, strategy)
                tail = await recall_at_1(pincite, tails, strategy)
                ratio = tail / head if head else 0.0
                print(f"| {strategy} | {head:.3f} | {tail:.3f} | {ratio:.3f} | {len(tried)} |", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
