"""Evaluate chunkers by gold spans: how much of the relevant text the retrieved passages contain.

A set is a folder with `documents/` and `qa.jsonl`, whose questions name a document and `references` with `start_index`
and `end_index` into its text. Metrics are computed over the tokens of the first five passages, with repeated tokens
counted each time: recall is the share of the reference tokens found, precision the share of the found tokens that are
references, and IoU their intersection over their union.
"""

import hashlib
import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from pincite.config.sources import with_values
from pincite.core.evaluations import Place
from pincite.core.query.hits import Hit
from pincite.errors import Invalid, NotFound
from pincite.evaluate.compare import Comparison, Judge, Trial, run_variant
from pincite.evaluate.measure.baseline_chunkers import CHUNKERS
from pincite.evaluate.questions.datasets import rows
from pincite.evaluate.runner import Report
from pincite.evaluate.temporary_library import Corpus, temporary_library
from pincite.evaluate.variants import Variant
from pincite.text.sentences import normalise
from pincite.text.tokens import Tokenizer

TOP_K = 5
"""Number of passages evaluated per question."""

UNSPLIT_SETTINGS = {"chunking.size": 8000, "chunking.overlap": 0}
"""Settings under which a chunk of a baseline chunker is not split again."""


@dataclass(frozen=True, slots=True)
class SpanSet:
    """Normalised texts by name, and questions with the places that answer them."""

    name: str
    texts: Mapping[str, str]
    questions: tuple[tuple[str, tuple[Place, ...]], ...]


class Tokens:
    """The token offsets of a text, to convert places to token ranges."""

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        self._starts = list(tokenizer.starts(text))

    def between(self, start: int, end: int) -> range:
        """Return the tokens that overlap a character range."""
        first = bisect_left(self._starts, start + 1) - 1
        return range(max(0, first), bisect_left(self._starts, end))


def load_spans(folder: Path) -> SpanSet:
    """Load a set; offsets are adjusted for the white space that normalisation removes."""
    texts: dict[str, str] = {}
    moved: dict[str, list[int]] = {}
    for path in sorted((folder / "documents").glob("*")):
        raw = path.read_text(encoding="utf-8")
        texts[path.name] = normalise(raw)
        moved[path.name] = _normalised_offsets(raw)
    if not texts:
        raise NotFound(f"there are no files in {folder / 'documents'}; --spans needs documents/ and qa.jsonl")
    questions = tuple(_question(row, moved) for row in rows(folder, "qa"))
    if not questions:
        raise Invalid(f"there are no questions in {folder / 'qa.jsonl'}")
    return SpanSet(folder.resolve().name, texts, questions)


def _normalised_offsets(raw: str) -> list[int]:
    """Map each offset of the raw text to the offset in the normalised text."""
    kept: list[int] = []
    for line in raw.split("\n"):
        solid = len(line.rstrip())
        kept += [1] * solid + [0] * (len(line) - solid) + [1]
    return [0, *accumulate(kept[:-1])]


def _question(row: Mapping[str, Any], moved: Mapping[str, Sequence[int]]) -> tuple[str, tuple[Place, ...]]:
    try:
        document = row["document"]
        offsets = moved[document]
        places = [(offsets[one["start_index"]], offsets[one["end_index"]]) for one in row["references"]]
        return str(row["text"]), tuple(Place(document, start, end) for start, end in places)
    except (KeyError, IndexError, TypeError) as error:
        raise Invalid(f"a question of the set is not valid ({error!r}): {str(row)[:80]}") from None


async def compare_spans(
    spans: SpanSet, variants: Sequence[Variant], *, keep: Path | None, report: Report
) -> Comparison:
    """Compare the baseline chunkers and the chunker of each variant with the same search."""
    tokenizer = Tokenizer(variants[0].settings.chunking.tokenizer)
    tokens = {name: Tokens(text, tokenizer) for name, text in spans.texts.items()}
    trials: list[Trial] = []
    for name, cut in CHUNKERS.items():
        pieces = [Place(doc, *span) for doc, text in spans.texts.items() for span in cut(text, tokenizer)]
        settings = with_values(variants[0].settings, UNSPLIT_SETTINGS)
        files = {f"{n}.txt": spans.texts[one.document_id][one.start : one.end] for n, one in enumerate(pieces)}
        found = {f"{number}.txt": piece for number, piece in enumerate(pieces)}
        corpus = _corpus(f"{spans.name}-cut", {key: text for key, text in files.items() if text.strip()})
        trials.append(
            await _run_in_library(corpus, Variant(name, settings), _judges(spans, tokens, found), keep, report)
        )
    corpus = _corpus(spans.name, spans.texts)
    for variant in variants:
        trials.append(await _run_in_library(corpus, variant, _judges(spans, tokens, {}), keep, report))
    return Comparison(spans.name, len(spans.texts), len(spans.questions), tuple(trials))


async def _run_in_library(
    corpus: Corpus, variant: Variant, questions: Sequence[tuple[str, Judge]], keep: Path | None, report: Report
) -> Trial:
    async with temporary_library(corpus, variant, keep=keep, report=report) as (pincite, left_out):
        notes = [f"not indexed: {one}" for one in left_out]
        return await run_variant(pincite, variant, questions, notes=notes, report=report)


def _judges(spans: SpanSet, tokens: Mapping[str, Tokens], pieces: Mapping[str, Place]) -> list[tuple[str, Judge]]:
    """Return each question with its judge; `pieces` are the places of chunks from a baseline chunker."""

    def judge_of(wanted: Sequence[Place]) -> Judge:
        return lambda hits: overlap(wanted, [_place(hit, pieces) for hit in hits[:TOP_K]], tokens)

    return [(text, judge_of(wanted)) for text, wanted in spans.questions]


def _place(hit: Hit, pieces: Mapping[str, Place]) -> Place:
    name = hit.chunk.document_name
    return pieces.get(name) or Place(name, hit.chunk.start_char, hit.chunk.end_char)


def overlap(wanted: Sequence[Place], found: Sequence[Place], tokens: Mapping[str, Tokens]) -> dict[str, float]:
    """Return recall, precision and IoU in tokens; duplicates reduce precision."""
    needed = _tokens(wanted, tokens)
    covered = len(needed & _tokens(found, tokens))
    taken = sum(len(tokens[one.document_id].between(one.start, one.end)) for one in found)
    return {
        "token recall": covered / len(needed) if needed else 0.0,
        "precision": covered / taken if taken else 0.0,
        "IoU": covered / (taken + len(needed) - covered) if taken or needed else 0.0,
    }


def _tokens(places: Sequence[Place], tokens: Mapping[str, Tokens]) -> set[tuple[str, int]]:
    return {(one.document_id, token) for one in places for token in tokens[one.document_id].between(one.start, one.end)}


def _corpus(name: str, files: Mapping[str, str]) -> Corpus:
    return Corpus(name, files, hashlib.sha256(json.dumps(list(files.items())).encode()).hexdigest())
