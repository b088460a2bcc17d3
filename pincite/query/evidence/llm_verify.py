"""Verification by the model: one call judges for every passage whether it helps to answer the question."""

import re
import secrets
from collections.abc import Mapping, Sequence
from typing import Literal

from pincite.core.query.hits import Hit
from pincite.core.query.plan import Plan
from pincite.core.query.prompt import Prompt
from pincite.core.run import Run
from pincite.errors import ProviderError
from pincite.query.prompt.helper_call import Bounds, complete, render_prompt
from pincite.query.prompt.structured import parse_object, verdict_schema

VERDICT_TIMEOUT_S = 30.0
"""Timeout of the model for its verdicts, in seconds."""
TOKENS_PER_VERDICT, EXTRA_VERDICT_TOKENS = 8, 60
"""Tokens for each verdict, and for text around the verdicts."""
CHARS_PER_TOKEN = 6
"""Characters of the output that are read per token."""

_VERDICT = re.compile(
    r"^[^\w\n]*+(?:passage|source|claim|abschnitt)?[^\w\n]*+(\d{1,3})\W++(yes|no|ja|nein)\b",
    re.IGNORECASE | re.MULTILINE,
)
_HELPS, _HELPS_NOT = ("yes", "ja", "true"), ("no", "nein", "false")


async def model_verification(run: Run, plan: Plan, hits: Sequence[Hit]) -> list[Hit]:
    """The hits that help according to the model, and those that did not fit into the prompt.

    `ProviderError` where a verdict is missing; then the verification by rules stands alone.
    """
    if run.kit.llm is run.kit.extractive:
        raise ProviderError("no model is configured to verify passages; only rules verified them (rag.verification_by)")
    tokens = TOKENS_PER_VERDICT * len(hits) + EXTRA_VERDICT_TOKENS
    bounds = Bounds(VERDICT_TIMEOUT_S, tokens, CHARS_PER_TOKEN * tokens)
    prompt, shown = _prompt(run, plan, hits, bounds)
    verdicts = read_verdicts(await complete(prompt, bounds, run=run), shown)
    kept = [hit for number, hit in enumerate(hits, start=1) if number > shown or verdicts[number]]
    run.observe(judged=shown, kept=len(kept))
    if not kept:
        run.warnings.append(f"the model found none of {shown} passages helpful for the question")
    return kept


def read_verdicts(text: str, count: int, judged: Literal["passage", "claim"] = "passage") -> Mapping[int, bool]:
    """The verdict on each passage or claim by its number, from JSON or from lines.

    `ProviderError` where one is missing or contradictory.
    """
    found: dict[int, set[bool]] = {}
    constrained = parse_object(text)
    written = constrained.items() if constrained else _VERDICT.findall(text)
    for number, word in written:
        if str(number).isdigit() and str(word).lower() in (*_HELPS, *_HELPS_NOT):
            found.setdefault(int(number), set()).add(str(word).lower() in _HELPS)
    clear = {number: words.pop() for number, words in found.items() if len(words) == 1}
    if not all(number in clear for number in range(1, count + 1)):
        what = f"1 {judged}" if count == 1 else f"{count} {judged}s"
        done = "verified" if judged == "passage" else "judged"
        raise ProviderError(
            f"the model's verdicts on {what} could not be read; only rules {done} {'it' if count == 1 else 'them'}"
        )
    return clear


def _prompt(run: Run, plan: Plan, hits: Sequence[Hit], bounds: Bounds) -> tuple[Prompt, int]:
    """A prompt with as many of the best passages as fit into the context window, and their number."""
    boundary = f"=== {secrets.token_hex(8)} ==="
    blocks = [f"{boundary}\nPassage {n}: {_passage_text(hit)}\n{boundary}" for n, hit in enumerate(hits, start=1)]
    while blocks:
        fills = {"boundary": boundary, "question": plan.text, "passages": "\n\n".join(blocks)}
        schema = verdict_schema(len(blocks))
        if prompt := render_prompt("verify", plan.question, fills, bounds, run=run, schema=schema):
            return prompt, len(blocks)
        blocks.pop()
    raise ProviderError("no passage fits into the context window of the model; only rules verified them")


def _passage_text(hit: Hit) -> str:
    chunk = hit.chunk
    return "\n".join(part for part in (chunk.title, chunk.header, chunk.text) if part)
