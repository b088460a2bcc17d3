"""How likely a passage is to be about a question: a calibrated estimate between 0 and 1."""

import math
from collections.abc import Sequence

from pincite.core.answers import Found
from pincite.words import query_terms, terms

# A logistic regression on 595 questions of an English and German set; `./run bench calibrate` fits it again.
BIAS, COSINE, COVERAGE = -9.46, 7.48, 9.91
BIAS_WITHOUT_COSINE, COVERAGE_ALONE = -7.35, 11.9


def held_terms(chunk: Found) -> set[str]:
    """The words a passage can answer with: its own and those of the title and headings above it."""
    return set(terms(f"{chunk.title} {' '.join(chunk.heading_path)} {chunk.header} {chunk.text}", chunk.language))


def relevance(queries: Sequence[str], chunk: Found, cosine: float | None) -> float:
    """From the cosine, where there is one, and from how many of the question's words the passage holds."""
    held = held_terms(chunk)
    covered = max(coverage(query, held, chunk.language) for query in queries)
    if cosine is None:
        return _logistic(BIAS_WITHOUT_COSINE + COVERAGE_ALONE * covered)
    return _logistic(BIAS + COSINE * cosine + COVERAGE * covered)


def coverage(query: str, held: set[str], language: str) -> float:
    """The share of the query's words that are among those held."""
    wanted = query_terms(query, [language])
    return sum(term in held for term in wanted) / len(wanted) if wanted else 0.0


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, x))))
