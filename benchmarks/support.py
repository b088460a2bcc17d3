"""Detection of unsupported claims: true and false claims through the whole pipeline.

    ./run bench support [--data DIR] [--every 8] [--start 2] [--work DIR] [--direct] [--fit]

A stub of a model server writes each claim and cites its passage, another one, one that does not exist, or none. Claims
are made from the sample documents and their questions, some by hand (`benchmarks/claims.tsv`), and with `--data` from
every N-th paragraph of XQuAD in English and German; the rules were developed on paragraphs whose number is a multiple
of four, so `--start` is 2. A citation counts as supporting from `support` .5 on.
The benchmark prints the share of each kind that was judged supporting, and over all kinds precision (the share of
supporting judgements that are right) and recall (the share of supporting citations that were found). `--direct` leaves
out the pipeline and the kinds that need it. `--fit` fits the weights of `pincite/query/ground/support.py` instead, on
one half of the paragraphs, and tests them on the other.
"""

import argparse
import asyncio
import gzip
import json
import tempfile
import zlib
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from benchmarks._claims import TRUE, Claim, Fact, claims_about
from benchmarks.calibrate import logistic
from pincite import AsyncPincite
from pincite.core.documents.document import Upload
from pincite.core.query.answer import Answer
from pincite.core.query.hits import Hit, RetrievedChunk
from pincite.core.query.question import Filters, Question
from pincite.core.query.reading import ReadableText
from pincite.ingest.accept.collect import collect
from pincite.models.calibration import FITTED, known_calibration, to_common_scale
from pincite.providers.pincite_embed import Options, make_embedder
from pincite.providers.reader import Options as ReaderOptions
from pincite.providers.reader import make_reader
from pincite.query.ground.support import (
    MIN_SUPPORT,
    SupportVerdict,
    asks_reader,
    decide_by_reader,
    judge_claim,
    unknown_noun_share,
)
from pincite.stub import StubLLM

ROOT = Path(__file__).parents[1]
NOWHERE = 97
"""The number of a source that no answer has."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A claim, and what the answer that made it says of it."""

    claim: Claim
    kind: str
    true: bool
    supported: bool
    reason: str | None


# --- what is claimed ----------------------------------------------------------------------------------------


def sample_facts() -> Iterator[Fact]:
    """The questions about the sample documents whose answer stands in a sentence."""
    for row in json.loads((ROOT / "examples" / "questions.json").read_text(encoding="utf-8")):
        if row["answerable"]:
            yield Fact(row["question"], "", row["answer_contains"][0], row["language"], row["document"])


def written_claims() -> Iterator[tuple[Claim, str, bool]]:
    """The claims made by hand, each with its kind and whether it is true."""
    for line in (ROOT / "benchmarks" / "claims.tsv").read_text(encoding="utf-8").splitlines():
        verdict, kind, language, document, question, text = line.split("\t")
        fact = Fact(question, "", "", language, document)
        yield Claim(fact, "reworded" if verdict == "true" else "wrong number", text), kind, verdict == "true"


def paragraph_facts(folder: Path, every: int, start: int) -> list[Fact]:
    """The questions of XQuAD about every so-manyth paragraph."""
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as file:
        texts = {row["_id"]: row["text"] for row in map(json.loads, file)}
    with (folder / "qrels.tsv").open(encoding="utf-8") as file:
        right = dict(line.split("\t")[:2] for line in file.read().splitlines()[1:])
    with gzip.open(folder / "queries.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if int(right[row["_id"]].split(":")[1]) % every == start]
    return [
        Fact(row["text"], texts[right[row["_id"]]], row["answers"][0], row["lang"], right[row["_id"]]) for row in rows
    ]


# --- asking -------------------------------------------------------------------------------------------------


class Asker:
    """Asks a question and has the stub answer it with a claim."""

    def __init__(self, pincite: AsyncPincite, stub: StubLLM) -> None:
        self._pincite, self._stub = pincite, stub
        self._found: dict[tuple[str, str | None], tuple[Answer, dict[str, Hit]]] = {}

    async def sources(self, question: str, folder: str | None) -> list[Hit | None]:
        """What an answer to a question may cite, by number."""
        key = (question, folder)
        if key not in self._found:
            self._stub.play(behaviour="quote")
            answer = await self._pincite.ask(_asked(question, folder))
            hits = (await self._pincite.search(_asked(question, folder))).hits
            self._found[key] = answer, {hit.chunk.id: hit for hit in hits}
        answer, known = self._found[key]
        return [known.get(source.chunk_id) for source in answer.sources]

    async def say(self, question: str, folder: str | None, text: str) -> Answer:
        """The answer to a question when the model says just this."""
        self._stub.play(answers=[text])
        return await self._pincite.ask(_asked(question, folder))


def _asked(question: str, folder: str | None) -> Question:
    return Question(question, filters=Filters(folder=folder), fresh=True)


async def outcome(asker: Asker, claim: Claim, chance: Random, kind: str | None = None) -> Outcome | None:
    """What became of a claim; None where its passage was not found for the question."""
    fact, folder = claim.fact, claim.fact.document.split(":")[0] if ":" in claim.fact.document else None
    sources = await asker.sources(fact.question, folder)
    right = [n for n, hit in enumerate(sources, start=1) if hit and _holds(hit, fact, claim)]
    wrong = [n for n, hit in enumerate(sources, start=1) if hit and not _mentions(hit, fact)]
    mark = {"wrong source": chance.choice(wrong) if wrong else None, "invented source": NOWHERE}.get(
        claim.kind, right[0] if right else None
    )
    if mark is None or not right:
        return None
    uncited = claim.kind.startswith("uncited")
    answer = await asker.say(fact.question, folder, claim.text if uncited else f"{claim.text} [Source {mark}]")
    cited = answer.citations[:1]
    supported = bool(cited) and cited[0].matched and cited[0].support >= MIN_SUPPORT
    return Outcome(claim, kind or claim.kind, claim.true, supported, cited[0].reason if cited else None)


def _holds(hit: Hit, fact: Fact, claim: Claim) -> bool:
    if fact.passage:
        return fact.passage.strip()[:60] in hit.chunk.text or fact.answer in hit.chunk.text
    if fact.answer:
        return hit.chunk.document_name == fact.document and fact.answer in " ".join(hit.chunk.text.split())
    return hit.chunk.document_name == fact.document and judge_claim(claim.text, hit.chunk).lexical > 0.3


def _mentions(hit: Hit, fact: Fact) -> bool:
    return bool(fact.answer) and fact.answer in hit.chunk.text


async def run_samples(asker: Asker, every: int = 1) -> list[Outcome]:
    """The claims about the sample documents: made from every so-manyth question, and all that were written."""
    chance, found = Random(3), list[Outcome | None]()
    for fact in list(sample_facts())[::every]:
        hits = await asker.sources(fact.question, None)
        holding = [hit for hit in hits if hit and _holds(hit, fact, Claim(fact, "literal", ""))]
        if holding:
            made = Fact(fact.question, holding[0].chunk.text, fact.answer, fact.language, fact.document)
            found += [
                await outcome(asker, Claim(fact, one.kind, one.text), chance) for one in claims_about(made, [], chance)
            ]
    for claim, kind, true in written_claims():
        one = await outcome(asker, claim, chance, kind)
        found.append(one and Outcome(one.claim, kind, true, one.supported, one.reason))
    return [one for one in found if one]


async def run_paragraphs(asker: Asker, facts: Sequence[Fact]) -> list[Outcome]:
    """The claims about XQuAD's paragraphs; each language lies in a folder of its own."""
    chance, found = Random(3), list[Outcome | None]()
    for fact in facts:
        found += [await outcome(asker, claim, chance) for claim in claims_about(fact, facts, chance)]
    return [one for one in found if one]


async def fill(pincite: AsyncPincite, facts: Sequence[Fact]) -> None:
    """Add the paragraphs, each language in a folder of its own."""
    ids = []
    for document, text in {fact.document: fact.passage for fact in facts}.items():
        language, number = document.split(":")
        added = await pincite.documents.upload(Upload(f"{number}.txt", text.encode(), folder=language))
        ids.append(added.document.id)
    pincite.services.workers.start()
    await pincite.documents.wait(ids)


# --- what is told -------------------------------------------------------------------------------------------


def table(title: str, outcomes: Sequence[Outcome]) -> str:
    """Each kind with how many were judged supporting, then precision and recall."""
    kinds: dict[str, list[Outcome]] = defaultdict(list)
    for one in sorted(outcomes, key=lambda one: (not one.true, one.kind)):
        kinds[f"{'true' if one.true else 'false'}: {one.kind}"].append(one)
    lines = [
        f"{title}: {len(outcomes)} claims",
        "",
        "| claim | en | judged supporting | de | judged supporting |",
        "|---|---|---|---|---|",
    ]
    for kind, found in kinds.items():
        cells = []
        for language in ("en", "de"):
            own = [one for one in found if one.claim.fact.language == language]
            cells += [str(len(own)), _share(own)]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    told = [one for one in outcomes if one.kind != "mixed up"]
    return "\n".join([*lines, "", precision("all but mixed up", told), precision("all", outcomes)])


def _share(found: Sequence[Outcome]) -> str:
    return f"{sum(one.supported for one in found) / len(found):.3f}" if found else "–"


def precision(name: str, outcomes: Sequence[Outcome]) -> str:
    """Precision and recall of the support check over these claims."""
    judged = [one for one in outcomes if one.supported]
    true = [one for one in outcomes if one.true]
    right = sum(one.true for one in judged)
    return f"{name}: precision {right / max(1, len(judged)):.3f}, recall {right / max(1, len(true)):.3f}"


# --- fitting ------------------------------------------------------------------------------------------------


async def fit_weights(facts: Sequence[Fact]) -> None:
    """Fit what decides where rules leave it open; each class counts the same, however many claims it has."""
    columns, right, held_out, found = await _observed(facts)
    for name, chosen in (("with meaning", [0, 1, 2]), ("words alone", [0, 2])):
        weights = balanced(columns[~held_out][:, chosen], right[~held_out])
        guess = logistic(weights[0] + columns[held_out][:, chosen] @ weights[1:])
        kept, passed = guess[right[held_out]] >= MIN_SUPPORT, guess[~right[held_out]] >= MIN_SUPPORT
        print(f"{name}: {', '.join(f'{weight:.2f}' for weight in weights)}")
        print(
            f"  held out: true ones kept {kept.mean():.3f} of {len(kept)}, false ones passed {passed.mean():.3f} of {len(passed)}"
        )
    print(f"{found} claims, {len(right)} of them left open by the rules")


async def _observed(facts: Sequence[Fact]) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Shared words, cosine and unknown nouns of every claim that rules leave open, but for mixed-up ones."""
    rows, count = list[Any](), 0
    async for claim, chunk, verdict, cosine in _judged(facts):
        if claim.kind == "mixed up":
            continue
        count += 1
        if verdict.open:
            half = zlib.crc32(claim.fact.document.split(":")[1].encode()) % 2
            rows.append((verdict.lexical, cosine, -unknown_noun_share(claim.text, chunk), claim.kind in TRUE, half))
    seen = np.array(rows, dtype=float)
    return seen[:, :3], seen[:, 3].astype(bool), seen[:, 4].astype(bool), count


async def run_directly(facts: Sequence[Fact]) -> list[Outcome]:
    """The claims beside their passages, without a server or a search in between."""
    found, reader = [], make_reader(ReaderOptions())
    async for claim, chunk, verdict, _ in _judged(facts):
        final = verdict
        if asks_reader(verdict, claim.text, chunk):
            [reading] = await reader.read(claim.text, [ReadableText(chunk.text)])
            final = decide_by_reader(verdict, reading.supported)
        found.append(Outcome(claim, claim.kind, claim.true, final.support >= MIN_SUPPORT, final.reason))
    return found


async def _judged(facts: Sequence[Fact]) -> AsyncIterator[tuple[Claim, RetrievedChunk, SupportVerdict, float]]:
    """Every claim that cites something, beside its passage or a wrong one: what rules say, and the cosine where that is open."""
    chance, embedder = Random(3), make_embedder(Options())
    passages = sorted({(fact.document, fact.passage) for fact in facts})
    for fact in facts:
        others = [text for document, text in passages if document[:2] == fact.language and fact.answer not in text]
        for claim in claims_about(fact, facts, chance):
            if claim.kind.startswith(("uncited", "invented")) or (claim.kind == "wrong source" and not others):
                continue
            chunk = make_chunk(chance.choice(others) if claim.kind == "wrong source" else fact.passage, fact.language)
            verdict, cosine = judge_claim(claim.text, chunk), 0.0
            if verdict.open:
                told = embedder.windows(chunk.text[verdict.start : verdict.end])[0]
                one, other = await embedder.embed([claim.text, told], as_query=True)
                scale = known_calibration(embedder) or FITTED
                cosine = to_common_scale(scale, float(np.dot(one, other))) or 0.0
            yield claim, chunk, verdict, cosine


def balanced(columns: np.ndarray, right: np.ndarray) -> np.ndarray:
    """A logistic regression in which both classes weigh the same, by gradient steps that cannot run away."""
    rows = np.column_stack([np.ones(len(columns)), columns])
    share = np.where(right, 0.5 / right.sum(), 0.5 / (~right).sum())
    weights = np.zeros(rows.shape[1])
    for _ in range(200):
        guess = logistic(rows @ weights)
        slope = rows.T @ (share * (right - guess)) - 1e-3 * weights
        curve = (rows * (share * guess * (1 - guess))[:, None]).T @ rows + 1e-3 * np.eye(len(weights))
        weights += np.linalg.solve(curve, slope)
    return weights


def make_chunk(text: str, language: str) -> RetrievedChunk:
    return RetrievedChunk(
        key=1, id="", document_id="", document_name="", title="", version="", checksum="", folder="", category=None,
        source_uri=None, source_urls=(), mime="", ordinal=0, level=2, text=text, header="", start_char=0, end_char=len(text),
        start_line=1, end_line=1, page=None, heading_path=(), content_type="prose", language=language, vectorized_text=None,
        page_starts=(), created_at=datetime.now(UTC),
    )  # fmt: skip


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--every", type=int, default=8, help="ask about every so-manyth paragraph only")
    parser.add_argument("--start", type=int, default=2, help="and which of these is the first")
    parser.add_argument("--work", type=Path, help="data folder to keep between runs")
    parser.add_argument("--fit", action="store_true", help="fit the weights again")
    parser.add_argument("--direct", action="store_true", help="judge the claims about XQuAD without the pipeline")
    parser.add_argument("--show", action="store_true", help="print the claims that were judged wrongly")
    arguments = parser.parse_args()
    facts = paragraph_facts(arguments.data / "xquad-en-de", arguments.every, arguments.start) if arguments.data else []
    if arguments.fit:
        await fit_weights(facts)
        return
    if arguments.direct:
        show("XQuAD, without the pipeline", await run_directly(facts), wrong=arguments.show)
        return
    with tempfile.TemporaryDirectory() as temporary, StubLLM() as stub:
        base = arguments.work or Path(temporary)
        settings = {"llm.base_url": stub.url, "llm.model": "stub", "cache.enabled": False}
        settings["grounding.replace_unsupported"] = False  # the claims themselves are judged
        tables = []
        async with AsyncPincite(settings={**settings, "data": base / "samples"}) as pincite:
            await pincite.add_all(collect([ROOT / "examples" / "documents"]))
            tables.append(("the sample documents", await run_samples(Asker(pincite, stub))))
        if facts:
            async with AsyncPincite(settings={**settings, "data": base / "xquad"}) as pincite:
                await fill(pincite, facts)
                tables.append(("XQuAD", await run_paragraphs(Asker(pincite, stub), facts)))
    for title, outcomes in tables:
        show(title, outcomes, wrong=arguments.show)


def show(title: str, outcomes: Sequence[Outcome], *, wrong: bool) -> None:
    """Print the table, and the claims that were judged wrongly where that is asked for."""
    print(table(title, outcomes), end="\n\n")
    for one in outcomes if wrong else ():
        if one.supported != one.true:
            print(f"{'missed' if one.true else 'passed'} [{one.kind}] {one.claim.text}  ({one.reason})")


if __name__ == "__main__":
    asyncio.run(main())
