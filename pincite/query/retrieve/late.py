"""The engine of late interaction: candidates ranked by the best cosine of each token of the question (MaxSim)."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pincite.core.protocols import Match
from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.core.traces import span
from pincite.errors import Unavailable
from pincite.text.terms import question_language

if TYPE_CHECKING:
    from pincite.models.token_encoder import TokenEncoder
    from pincite.models.token_vectors import Tokens
    from pincite.query.retrieve.engines import FirstPass

WEIGHT = 0.5
"""Weight in fusion, where dense and lexical search share 1."""
CANDIDATES = 200
"""Candidates of each other engine that are ranked."""
TOO_LARGE = "late.search"
"""Name in `degraded` for a library that is too large for the token index."""


async def late_search(run: Run, plan: Plan, first: "FirstPass") -> Sequence[Match]:
    """Rank the candidates of the other engines, and of the token index where `late.search` is set, by MaxSim."""
    if run.kit.late is None:
        raise Unavailable("there is no store of token vectors")
    encoder, question = await _question_tokens(run, plan.text)
    filters, scope = plan.question.filters, run.scope
    keys = dict.fromkeys(match.key for ranking in first.rankings for match in ranking.matches[:CANDIDATES])
    if run.settings.late.search and len(question):
        with span("token_search", tokens=len(question)) as it:
            found = await run.kit.late.near(
                question.tolist(), encoder.name, scope=scope, filters=filters, limit=CANDIDATES
            )
            it.attributes["found"] = len(found or ())
        if found is None:
            run.degrade(
                TOO_LARGE, "the library is too large for the token index; the other engines' results are ranked"
            )
        keys |= dict.fromkeys(found or ())
    tokens = await run.kit.late.tokens(list(keys), encoder.name, scope=scope, filters=filters)
    scores = await asyncio.to_thread(_max_sim, question, list(tokens.values()))
    ranked = sorted(zip(tokens, scores, strict=True), key=lambda pair: (-pair[1], pair[0]))
    return [Match(key, max(0.0, score)) for key, score in ranked]


async def _question_tokens(run: Run, text: str) -> "tuple[TokenEncoder, Tokens]":
    from pincite.models.token_encoder import token_encoder  # it loads the library of local models

    encoder = await asyncio.to_thread(token_encoder, run.kit.embedder, run.settings.late.model)
    [tokens] = await encoder.embed_tokens([(text, question_language(text))], as_query=True)
    return encoder, tokens


def _max_sim(question: "Tokens", passages: Sequence[bytes]) -> list[float]:
    from pincite.models.token_vectors import max_sim

    return max_sim(question, passages)
