"""Ensemble voting: write several drafts concurrently and choose the one that the others agree with most."""

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
"""Each draft has this much more temperature than the one before, up to the maximum; the first has the usual one."""
MIN_WAIT_S = 5.0
"""Minimum wait, in seconds, for the other drafts once most are written; otherwise as long as these took."""
MAX_REPORTED_STATEMENTS = 3
"""Statements that a warning quotes."""
MAX_STATEMENT_CHARS = 100
"""Characters of a statement in a warning."""


@dataclass(frozen=True, slots=True)
class Ballot:
    """A draft, its statements, those that the others agree with, and how many of these a cited source supports."""

    draft: Draft
    statements: Sequence[DraftStatement]
    agreed: Sequence[DraftStatement]
    supported: int

    @property
    def share(self) -> float:
        """The share of its statements that others agree with."""
        return len(self.agreed) / len(self.statements) if self.statements else 0.0


async def voting(run: Run, prompt: Prompt, drafts: Sequence[Draft]) -> Draft:
    """The draft with most agreed and supported statements; a warning names the statements that only it makes."""
    titled = run.settings.citations.form == "title"
    statements = [statements_of(one.text, prompt.sources, titled=titled and not one.quotes) for one in drafts]
    vectors = await _vectors(run, statements)
    ballots = await asyncio.to_thread(count_votes, drafts, statements, vectors, prompt.sources)
    chosen = pick_winner(ballots)
    run.observe(
        drafts=len(drafts),
        chosen=ballots.index(chosen) + 1,
        statements=len(chosen.statements),
        agreed=len(chosen.agreed),
        held=chosen.supported,
    )
    _emit_by_sentence(run, chosen.draft.text)
    usages = [one.usage for one in drafts if one.usage]
    final = replace(chosen.draft, usage=sum(usages[1:], usages[0]) if usages else None)
    if len(drafts) < 2 or not chosen.statements:
        return final
    return replace(
        final, agreement=chosen.share, warnings=(*final.warnings, *_disagreement_warnings(chosen, len(drafts)))
    )


def variations(prompt: Prompt, model: str, wanted: int) -> list[Prompt]:
    """The prompts of the drafts: passages in different orders, with rising temperatures."""
    sampling = prompt.sampling
    base = facts_of(sampling.model or model).temperature if sampling.temperature is None else sampling.temperature
    orders = (prompt.messages, *prompt.reordered)
    found = [replace(prompt, reordered=())]
    for number in range(1, wanted):
        temperature = max(base, min(MAX_TEMPERATURE, base + TEMPERATURE_STEP * number))
        found.append(
            replace(
                found[0], messages=orders[number % len(orders)], sampling=replace(sampling, temperature=temperature)
            )
        )
    return found


async def gather_drafts(drafts: Sequence[Coroutine[Any, Any, Draft]]) -> tuple[list[Draft], str]:
    """The drafts that were written, in order, and why others are missing; much slower ones are cancelled.

    `Unavailable` where no draft was written.
    """
    tasks = [asyncio.create_task(one) for one in drafts]
    try:
        unfinished = await _wait_for_majority(tasks)
        failed = [error for task in tasks if task not in unfinished and (error := task.exception())]
        for error in failed:
            if not isinstance(error, Unavailable) or len(failed) == len(tasks):
                raise error
        found = [task.result() for task in tasks if task not in unfinished and not task.exception()]
    finally:
        await asyncio.gather(*(cancel_and_wait(task) for task in tasks))
    why = str(failed[0]) if failed else "the others took much longer"
    return found, f"{len(found)} of {len(tasks)} drafts were written: {why}" if len(found) < len(tasks) else ""


async def _wait_for_majority(tasks: Sequence[asyncio.Task[Draft]]) -> set[asyncio.Task[Draft]]:
    """Wait for most of the drafts, then for a limited time for the rest; the tasks that are not done then."""
    started, pending = time.monotonic(), set(tasks)
    while pending and sum(not task.exception() for task in tasks if task not in pending) <= len(tasks) // 2:
        _, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
    if pending:
        _, pending = await asyncio.wait(pending, timeout=max(MIN_WAIT_S, time.monotonic() - started))
    return pending


async def _vectors(run: Run, statements: Sequence[Sequence[DraftStatement]]) -> dict[str, Vector]:
    """The vectors of all statements; empty where the embedder is down, which earlier stages reported already."""
    texts = list(dict.fromkeys(one.text for own in statements for one in own))
    if len(statements) < 2 or not texts:
        return {}
    try:
        return dict(zip(texts, await run.embed(texts), strict=True))
    except Unavailable:
        return {}


def count_votes(
    drafts: Sequence[Draft],
    statements: Sequence[Sequence[DraftStatement]],
    vectors: dict[str, Vector],
    sources: Sequence[Hit],
) -> list[Ballot]:
    """A ballot for each draft: the statements that at least half of the other drafts agree with."""
    found: list[Ballot] = []
    for number, own in enumerate(statements):
        others = [*statements[:number], *statements[number + 1 :]]
        agreed = [one for one in own if 2 * sum(agrees(one, other, vectors) for other in others) >= max(1, len(others))]
        found.append(Ballot(drafts[number], own, agreed, sum(is_supported(one, sources) for one in agreed)))
    return found


def pick_winner(ballots: Sequence[Ballot]) -> Ballot:
    """The ballot with most agreed and supported statements; where most drafts state nothing, the first of these."""
    silent = [ballot for ballot in ballots if not ballot.statements]
    if 2 * len(silent) > len(ballots):
        return silent[0]
    return max(ballots, key=lambda ballot: (ballot.supported, ballot.share))


def _disagreement_warnings(chosen: Ballot, drafts: int) -> list[str]:
    """A warning with the statements that most other drafts do not make."""
    unshared = [one for one in chosen.statements if one not in chosen.agreed]
    if not unshared:
        return []
    shown = "; ".join(
        f"“{one.text[:MAX_STATEMENT_CHARS]}{'…' if len(one.text) > MAX_STATEMENT_CHARS else ''}”"
        for one in unshared[:MAX_REPORTED_STATEMENTS]
    )
    count = f"{len(unshared)} of {len(chosen.statements)} statements {'is' if len(unshared) == 1 else 'are'}"
    return [f"{count} not what most of {drafts} drafts say: {shown}"]


def _emit_by_sentence(run: Run, text: str) -> None:
    """Stream the chosen draft sentence by sentence."""
    ends = [end for _, end in sentences(text)][:-1]
    for start, end in zip([0, *ends], [*ends, len(text)], strict=True):
        if text[start:end]:
            run.emit(Token(text[start:end]))
