"""Several drafts of one answer, written at once; the one whose statements the others make as well is given."""

import asyncio
import time
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pincite.concurrency import cancel_and_wait
from pincite.core.protocols import Vector
from pincite.core.query.hits import Hit
from pincite.core.query.prompt import Draft, Prompt
from pincite.core.run import Run, Token
from pincite.errors import Unavailable
from pincite.models.facts import facts_of
from pincite.query.ensemble.agreement import DraftStatement, agrees, is_supported, statements_of
from pincite.text.sentences import sentences

TEMPERATURE_STEP, MAX_TEMPERATURE = 0.2, 1.0
"""Each draft is written so much warmer than the one before, up to there; the first as it would be alone."""
MIN_WAIT_S = 5.0
"""Once most drafts are there, the others get as long again as these took, and at least so long."""
MAX_REPORTED_STATEMENTS = 3
"""Statements that are told in a warning, each cut to so many characters."""
MAX_STATEMENT_CHARS = 100


@dataclass(frozen=True, slots=True)
class Ballot:
    """A draft, its statements, those the others agree with, and those of them that a source it names holds."""

    draft: Draft
    statements: Sequence[DraftStatement]
    agreed: Sequence[DraftStatement]
    held: int

    @property
    def share(self) -> float:
        """The share of its statements that others agree with."""
        return len(self.agreed) / len(self.statements) if self.statements else 0.0


async def voting(run: Run, prompt: Prompt, drafts: Sequence[Draft]) -> Draft:
    """The draft with most statements that others agree with and its sources hold; what only it says is told."""
    said = [statements_of(one.text, prompt.sources) for one in drafts]
    vectors = await _vectors(run, said)
    ballots = await asyncio.to_thread(count_votes, drafts, said, vectors, prompt.sources)
    chosen = pick_winner(ballots)
    run.observe(
        drafts=len(drafts), chosen=ballots.index(chosen) + 1, statements=len(chosen.statements), agreed=len(chosen.agreed),
        held=chosen.held,
    )  # fmt: skip
    _emit_by_sentence(run, chosen.draft.text)
    usages = [one.usage for one in drafts if one.usage]
    final = replace(chosen.draft, usage=sum(usages[1:], usages[0]) if usages else None)
    if len(drafts) < 2 or not chosen.statements:
        return final
    return replace(
        final, agreement=chosen.share, warnings=(*final.warnings, *_disagreement_warnings(chosen, len(drafts)))
    )


def variations(prompt: Prompt, model: str, wanted: int) -> list[Prompt]:
    """The prompts of the drafts: the passages in different orders, and each warmer than the one before."""
    wish = prompt.sampling
    base = facts_of(wish.model or model).temperature if wish.temperature is None else wish.temperature
    orders = (prompt.messages, *prompt.reordered)
    found = [replace(prompt, reordered=())]
    for number in range(1, wanted):
        warmer = max(base, min(MAX_TEMPERATURE, base + TEMPERATURE_STEP * number))
        found.append(
            replace(found[0], messages=orders[number % len(orders)], sampling=replace(wish, temperature=warmer))
        )
    return found


async def gather_drafts(drafts: Sequence[Coroutine[Any, Any, Draft]]) -> tuple[list[Draft], str]:
    """Those that were written, in order, and why others were not; who takes far longer than the rest is left out.

    `Unavailable` where there is none.
    """
    tasks = [asyncio.create_task(one) for one in drafts]
    try:
        slow = await _wait_for_majority(tasks)
        failed = [error for task in tasks if task not in slow and (error := task.exception())]
        for error in failed:
            if not isinstance(error, Unavailable) or len(failed) == len(tasks):
                raise error
        found = [task.result() for task in tasks if task not in slow and not task.exception()]
    finally:
        await asyncio.gather(*(cancel_and_wait(task) for task in tasks))
    why = str(failed[0]) if failed else "the rest took far longer"
    return found, f"{len(found)} of {len(tasks)} drafts were written: {why}" if len(found) < len(tasks) else ""


async def _wait_for_majority(tasks: Sequence[asyncio.Task[Draft]]) -> set[asyncio.Task[Draft]]:
    """Wait for the drafts; those that are not done when the others have waited long enough."""
    begun, left = time.monotonic(), set(tasks)
    while left and sum(not task.exception() for task in tasks if task not in left) <= len(tasks) // 2:
        _, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
    if left:
        _, left = await asyncio.wait(left, timeout=max(MIN_WAIT_S, time.monotonic() - begun))
    return left


async def _vectors(run: Run, said: Sequence[Sequence[DraftStatement]]) -> dict[str, Vector]:
    """The vectors of all statements; none without the embedder, which then was missed before and is noted."""
    texts = list(dict.fromkeys(one.text for statements in said for one in statements))
    if len(said) < 2 or not texts:
        return {}
    try:
        return dict(zip(texts, await run.embed(texts), strict=True))
    except Unavailable:
        return {}


def count_votes(
    drafts: Sequence[Draft],
    said: Sequence[Sequence[DraftStatement]],
    vectors: dict[str, Vector],
    sources: Sequence[Hit],
) -> list[Ballot]:
    """What at least half of the other drafts agree with, for each."""
    found: list[Ballot] = []
    for number, own in enumerate(said):
        others = [*said[:number], *said[number + 1 :]]
        agreed = [one for one in own if 2 * sum(agrees(one, other, vectors) for other in others) >= max(1, len(others))]
        found.append(Ballot(drafts[number], own, agreed, sum(is_supported(one, sources) for one in agreed)))
    return found


def pick_winner(ballots: Sequence[Ballot]) -> Ballot:
    """The one with most that others agree with and its sources hold; where most say that they do not know, one of those."""
    silent = [ballot for ballot in ballots if not ballot.statements]
    if 2 * len(silent) > len(ballots):
        return silent[0]
    return max(ballots, key=lambda ballot: (ballot.held, ballot.share))


def _disagreement_warnings(chosen: Ballot, drafts: int) -> list[str]:
    """What the other drafts do not say, in words."""
    lone = [one for one in chosen.statements if one not in chosen.agreed]
    if not lone:
        return []
    shown = "; ".join(
        f"“{one.text[:MAX_STATEMENT_CHARS]}{'…' if len(one.text) > MAX_STATEMENT_CHARS else ''}”"
        for one in lone[:MAX_REPORTED_STATEMENTS]
    )
    count = f"{len(lone)} of {len(chosen.statements)} statements {'is' if len(lone) == 1 else 'are'}"
    return [f"{count} not what most of {drafts} drafts say: {shown}"]


def _emit_by_sentence(run: Run, text: str) -> None:
    """Let the chosen draft be heard, sentence by sentence."""
    ends = [end for _, end in sentences(text)][:-1]
    for start, end in zip([0, *ends], [*ends, len(text)], strict=True):
        if text[start:end]:
            run.emit(Token(text[start:end]))
