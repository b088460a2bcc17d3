"""Chunkers by gold spans: how much of what a question needs is in the passages found for it, and how much else.

A set is a folder with `documents/` and `qa.jsonl`, whose questions name a document and `references` with `start_index`
and `end_index` into its text. Over the tokens of the first five passages found, repeats counted each time: recall is
the share of the references that was found, precision the share of what was found that is reference, IoU what both
have in common over all that either has.
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
from pincite.evaluate.compare import Comparison, Judge, Trial, try_out
from pincite.evaluate.measure.baseline_chunkers import CUTTERS
from pincite.evaluate.questions.datasets import rows
from pincite.evaluate.runner import Report
from pincite.evaluate.temporary_library import Corpus, library_of
from pincite.evaluate.variants import Variant
from pincite.text.sentences import normalise
from pincite.text.tokens import Tokenizer

TOP = 5
"""Passages that are looked at."""
WHOLE = {"chunking.size": 8000, "chunking.overlap": 0}
"""Settings under which a piece that somebody else cut stays whole."""


@dataclass(frozen=True, slots=True)
class SpanSet:
    """Texts by name, normalised as ours are, and questions with the places that answer them."""

    name: str
    texts: Mapping[str, str]
    questions: tuple[tuple[str, tuple[Place, ...]], ...]


class Tokens:
    """Where the tokens of a text begin, so that places can be counted in tokens."""

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        self._starts = list(tokenizer.starts(text))

    def between(self, start: int, end: int) -> range:
        """The tokens that lie, at least in part, between two offsets."""
        first = bisect_left(self._starts, start + 1) - 1
        return range(max(0, first), bisect_left(self._starts, end))


def load_spans(folder: Path) -> SpanSet:
    """Read a set; offsets move with the white space that normalising takes away."""
    texts: dict[str, str] = {}
    moved: dict[str, list[int]] = {}
    for path in sorted((folder / "documents").glob("*")):
        raw = path.read_text(encoding="utf-8")
        texts[path.name] = normalise(raw)
        moved[path.name] = _moved(raw)
    if not texts:
        raise NotFound(f"there are no files in {folder / 'documents'}; --spans needs documents/ and qa.jsonl")
    questions = tuple(_question(row, moved) for row in rows(folder, "qa"))
    if not questions:
        raise Invalid(f"there are no questions in {folder / 'qa.jsonl'}")
    return SpanSet(folder.resolve().name, texts, questions)


def _moved(raw: str) -> list[int]:
    """For each offset of the raw text, and its end, the offset in the normalised one."""
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
        raise Invalid(f"a question of the set cannot be understood ({error!r}): {str(row)[:80]}") from None


async def compare_spans(
    spans: SpanSet, variants: Sequence[Variant], *, keep: Path | None, report: Report
) -> Comparison:
    """Plain cutters first, then ours as each variant has it, all found by the same search."""
    tokenizer = Tokenizer(variants[0].settings.chunking.tokenizer)
    tokens = {name: Tokens(text, tokenizer) for name, text in spans.texts.items()}
    trials: list[Trial] = []
    for name, cut in CUTTERS.items():
        pieces = [Place(doc, *span) for doc, text in spans.texts.items() for span in cut(text, tokenizer)]
        settings = with_values(variants[0].settings, WHOLE)
        files = {f"{n}.txt": spans.texts[one.document_id][one.start : one.end] for n, one in enumerate(pieces)}
        found = {f"{number}.txt": piece for number, piece in enumerate(pieces)}
        corpus = _corpus(f"{spans.name}-cut", {key: text for key, text in files.items() if text.strip()})
        trials.append(await _tried(corpus, Variant(name, settings), _judges(spans, tokens, found), keep, report))
    corpus = _corpus(spans.name, spans.texts)
    for variant in variants:
        trials.append(await _tried(corpus, variant, _judges(spans, tokens, {}), keep, report))
    return Comparison(spans.name, len(spans.texts), len(spans.questions), tuple(trials))


async def _tried(
    corpus: Corpus, variant: Variant, questions: Sequence[tuple[str, Judge]], keep: Path | None, report: Report
) -> Trial:
    async with library_of(corpus, variant, keep=keep, report=report) as (pincite, left_out):
        notes = [f"not taken in: {one}" for one in left_out]
        return await try_out(pincite, variant, questions, notes=notes, report=report)


def _judges(spans: SpanSet, tokens: Mapping[str, Tokens], pieces: Mapping[str, Place]) -> list[tuple[str, Judge]]:
    """Each question with its judge; `pieces` are the places of files that were cut beforehand."""

    def judge_of(wanted: Sequence[Place]) -> Judge:
        return lambda hits: overlap(wanted, [_place(hit, pieces) for hit in hits[:TOP]], tokens)

    return [(text, judge_of(wanted)) for text, wanted in spans.questions]


def _place(hit: Hit, pieces: Mapping[str, Place]) -> Place:
    name = hit.chunk.document_name
    return pieces.get(name) or Place(name, hit.chunk.start_char, hit.chunk.end_char)


def overlap(wanted: Sequence[Place], found: Sequence[Place], tokens: Mapping[str, Tokens]) -> dict[str, float]:
    """Recall, precision and IoU in tokens; what is found twice counts twice against precision."""
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
