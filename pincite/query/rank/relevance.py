"""How likely a passage is to be about a question: a calibrated estimate between 0 and 1."""

import math
from collections.abc import Sequence
from functools import lru_cache

from pincite.core.query.hits import Hit, RetrievedChunk
from pincite.core.run import Run
from pincite.models.calibration import Calibration, on_common_scale
from pincite.text.terms import plain_terms, query_terms, question_language, terms
from pincite.text.wording.equivalents import equivalents

MAX_CACHED_CHARS = 10_000
"""The terms of texts up to this many characters are cached; whole documents may be hits as well."""


def has_cosines(run: Run) -> bool:
    """Whether every hit has a cosine: the question was embedded, and all documents by the same model."""
    return not any(note.stage in ("query_embedding", "vectors") for note in run.degraded)


def scaled_similarity(run: Run, hit: Hit) -> float:
    """The cosine of a hit on the scale of all-MiniLM-L6-v2, which the thresholds are meant for.

    Embedders differ: unrelated texts have cosines of about 0.1 with that model, and of about 0.7 with the built-in one.
    """
    return on_common_scale(run.kit.embedder, hit.similarity)


def chunk_terms(chunk: RetrievedChunk) -> frozenset[str]:
    """The terms of a passage, its title and its headings, with the keys of other spellings."""
    return _of_chunk(chunk, keys=True)


def plain_chunk_terms(chunk: RetrievedChunk) -> frozenset[str]:
    """The terms of a passage, its title and its headings, without the keys of other spellings."""
    return _of_chunk(chunk, keys=False)


def _of_chunk(chunk: RetrievedChunk, *, keys: bool) -> frozenset[str]:
    parts = chunk.title, chunk.heading_path, chunk.header, chunk.text, chunk.language, keys
    return _cached_terms(*parts) if len(chunk.text) <= MAX_CACHED_CHARS else _terms(*parts)


def _terms(title: str, headings: Sequence[str], header: str, text: str, language: str, keys: bool) -> frozenset[str]:
    read = terms if keys else plain_terms
    return frozenset(read(f"{title} {' '.join(headings)} {header} {text}", language))


_cached_terms = lru_cache(maxsize=1024)(_terms)
"""Cached, since several stages and later questions use the same passage; by its parts, whose hashes are kept."""


def relevance(queries: Sequence[str], chunk: RetrievedChunk, cosine: float, calibration: Calibration) -> float:
    """The relevance of a passage, by its cosine and its coverage of the best-covered query, as calibrated."""
    language = chunk.language
    held = chunk_terms(chunk) if any(map(_has_keys, queries)) else plain_chunk_terms(chunk)
    covered = max([coverage(query, held, language) for query in queries])
    return _logistic(calibration.bias + calibration.cosine * cosine + calibration.coverage * covered)


def coverage(query: str, held: frozenset[str], language: str) -> float:
    """The share of the query's terms that are among the terms `held`."""
    wanted = _query_terms(query, language)
    return len(wanted & held) / len(wanted) if wanted else 0.0


@lru_cache(maxsize=64)
def _query_terms(query: str, language: str) -> frozenset[str]:
    """The terms of a query; cached, since they are the same for every passage of a language."""
    return frozenset(query_terms(query, [language]))


@lru_cache(maxsize=64)
def _has_keys(query: str) -> bool:
    """Whether a query has a number or something with other spellings; without, the keys of a passage count for nothing."""
    return any(map(str.isdigit, query)) or bool(equivalents(query, question_language(query)))


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, x))))
