"""The model judges every claim against its passage, in one call, after the rules."""

import secrets
from collections.abc import Sequence
from dataclasses import replace

from pincite.core.query.hits import Hit
from pincite.core.query.prompt import Prompt
from pincite.core.query.question import Question
from pincite.core.run import Run
from pincite.errors import ProviderError
from pincite.query.evidence.llm_verify import (
    CHARS_PER_TOKEN,
    EXTRA_VERDICT_TOKENS,
    TOKENS_PER_VERDICT,
    VERDICT_TIMEOUT_S,
    read_verdicts,
)
from pincite.query.ground.check_claims import ClaimCheck
from pincite.query.ground.support import REFUTED_SUPPORT, SupportVerdict
from pincite.query.prompt.helper_call import Bounds, complete, render_prompt
from pincite.query.prompt.structured import verdict_schema

CONFIRMED_SUPPORT = 0.9
"""Minimum support of a claim that the model confirms and no rule refuted."""
CONTEXT_CHARS = 300
"""Characters before and after the best-matching sentence that the prompt shows."""


async def claim_verification(run: Run, sources: Sequence[Hit], check: ClaimCheck) -> ClaimCheck:
    """Let the model judge every claim; claims that a rule refuted stay refuted.

    `ProviderError` where a verdict is missing.
    """
    claims, verdicts = check.claims, check.verdicts
    if run.kit.llm is run.kit.extractive:
        raise ProviderError("no model is configured to judge claims; only rules judged them (grounding.judge)")
    pairs = list(verdicts)
    tokens = TOKENS_PER_VERDICT * len(pairs) + EXTRA_VERDICT_TOKENS
    bounds = Bounds(VERDICT_TIMEOUT_S, tokens, CHARS_PER_TOKEN * tokens)
    shown = [(claims[n].text, _passage_text(sources[source - 1], verdicts[n, source])) for n, source in pairs]
    words = read_verdicts(await complete(_prompt(run, shown, bounds), bounds, run=run), len(pairs), "claim")
    run.observe(judged=len(pairs), denied=sum(not word for word in words.values()))
    judged = {pair: _apply_verdict(verdicts[pair], words[number]) for number, pair in enumerate(pairs, start=1)}
    return replace(check, verdicts=judged)


def _apply_verdict(verdict: SupportVerdict, confirmed: bool) -> SupportVerdict:
    if not confirmed:
        reason = verdict.reason or "the model does not find it in the source"
        return replace(verdict, support=min(verdict.support, REFUTED_SUPPORT), reason=reason)
    if verdict.refuted:
        return verdict
    return replace(verdict, support=max(verdict.support, CONFIRMED_SUPPORT), reason=None)


def _passage_text(hit: Hit, verdict: SupportVerdict) -> str:
    chunk = hit.chunk
    excerpt = chunk.text[max(0, verdict.start - CONTEXT_CHARS) : verdict.end + CONTEXT_CHARS]
    return "\n".join(part for part in (chunk.title, " > ".join(chunk.heading_path), chunk.header, excerpt) if part)


def _prompt(run: Run, pairs: Sequence[tuple[str, str]], bounds: Bounds) -> Prompt:
    boundary = f"=== {secrets.token_hex(8)} ==="
    blocks = [
        f"Claim {number}: {claim}\n{boundary}\nPassage {number}: {passage}\n{boundary}"
        for number, (claim, passage) in enumerate(pairs, start=1)
    ]
    fills = {"boundary": boundary, "claims": "\n\n".join(blocks)}
    prompt = render_prompt("judge", Question(""), fills, bounds, run=run, schema=verdict_schema(len(pairs)))
    if prompt is None:
        raise ProviderError("the answer is too long for the model to judge; only rules judged it")
    return prompt
