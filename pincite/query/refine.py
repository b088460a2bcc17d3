"""What was found and sifted → Evidence."""

from collections.abc import Sequence

from pincite.core.answers import Evidence, Hit, Plan
from pincite.core.run import Run
from pincite.query.relevance import held_terms
from pincite.words import query_terms, question_language, terms

MOST = 50
"""No answer stands on more passages."""


async def refine(run: Run, plan: Plan, hits: Sequence[Hit]) -> Evidence:
    """What an answer will stand on, best first, and how much of the question it covers."""
    kept = hits[:MOST]
    words = _content_words(plan.text, {hit.chunk.language for hit in kept})
    held = frozenset[str]().union(*(held_terms(hit.chunk) for hit in kept))
    missing = tuple(word for word, variants in words.items() if not variants & held)
    run.observe(kept=len(kept))
    return Evidence(tuple(kept), 1 - len(missing) / len(words) if words else 0.0, missing)


def _content_words(text: str, languages: set[str]) -> dict[str, set[str]]:
    """The question's words that carry meaning, as written, each with the forms it is indexed under."""
    found: dict[str, set[str]] = {}
    own = question_language(text)
    for word in text.split():
        bare = word.strip("?!.,;:()\"'„“”«»")
        if terms(bare, own):
            found[bare] = set(query_terms(bare, languages or {own}))
    return found
