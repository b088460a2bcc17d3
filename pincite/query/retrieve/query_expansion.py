"""More texts to search for than the one that was asked: its parts, other words, a supposed answer, the question behind it.

What a model writes is untrusted: it is cut into lines, cleaned and counted, and only ever searched for. Passages are
judged by what was asked and by nothing else.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace

from pincite.config.branches.retrieval import Rag
from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.errors import ProviderError
from pincite.query.prompt.helper_call import Bounds, complete, render_prompt
from pincite.query.understand.decompose import parts_of
from pincite.query.understand.understand import searching

VARIATIONS = 3
ABSTRACT = 5
"""A question of fewer words that names nothing is abstract: a supposed answer finds more than it does itself."""
LINE = Bounds(seconds=20.0, tokens=80, characters=400)
LINES = Bounds(seconds=20.0, tokens=200, characters=1200)
PASSAGE = Bounds(seconds=20.0, tokens=200, characters=1500)
LONGEST_LINE = 300

_LEAD = re.compile(
    r"^\W*(?:\d{1,2}\s*[.):]|[-*•–]|(?:more general question|general question|other words|question|passage|frage|variation)\s*\d*\s*:)\s*",
    re.IGNORECASE,
)
_TALK = re.compile(
    r"\bas an ai\b|\bi (?:don't|do not) know\b|\bno sources?\b|\bich weiß (?:es )?nicht\b|\bkeine quellen?\b|\bi(?:'m| am) (?:sorry|unable)|\bi (?:cannot|can't)\b|\bhere (?:is|are)\b|^\W*sure\b|</?think|\bes tut mir leid\b|"
    r"\bhier (?:ist|sind)\b|\[source|^\W*(?:gerne|natürlich)\b",
    re.IGNORECASE,
)
"""What a model says about its task instead of doing it."""


def expands(plan: Plan, rag: Rag) -> bool:
    """Whether there may be further texts to search by."""
    room = rag.max_queries - len(plan.searched)
    return room > 0 and (plan.strategy == "fusion" or bool(_calls(plan, rag)))


async def query_expansion(run: Run, plan: Plan) -> Plan:
    """The plan with further texts, `rag.max_queries` of them in all at most; every call to the model is made at once."""
    rag = run.settings.rag
    room, fusion, calls = rag.max_queries - len(plan.searched), plan.strategy == "fusion", _calls(plan, rag)
    if run.kit.llm is run.kit.extractive:
        for stage in calls:
            run.degrade(stage.__name__, "it takes a model, and none is configured (llm.*); it was left out")
        calls = []
    parts = parts_of(plan.text, plan.analysis)[: 2 if calls else None] if fusion else ()
    none: Sequence[str] = ()
    written = await asyncio.gather(*(run.attempt(none, stage, plan) for stage in calls))
    supposed = [text for stage, texts in zip(calls, written, strict=True) for text in texts if stage is hyde]
    extra = tuple(_new((*parts, *(text for texts in written for text in texts)), plan.searched))[:room]
    run.observe(parts=len(parts), by_model=sum(map(len, written)), searched=len(plan.searched) + len(extra))
    return searching(replace(plan, extra=extra), by_meaning=supposed) if extra else plan


def _calls(plan: Plan, rag: Rag) -> list[Callable[[Run, Plan], Awaitable[Sequence[str]]]]:
    """What the model is asked for."""
    fusion = plan.strategy == "fusion"
    by_meaning = plan.strategy != "lexical_only" and _is_abstract(plan)
    wanted = {
        step_back: rag.step_back_enabled or fusion,
        hyde: (rag.hyde_enabled or fusion) and by_meaning,
        query_variations: rag.query_expansion_enabled or fusion,
    }
    return [stage for stage, wished in wanted.items() if wished]


async def query_variations(run: Run, plan: Plan) -> Sequence[str]:
    """The question in other words, by the model."""
    return list(lines(await _ask(run, plan, "expand/variations", LINES)))[:VARIATIONS]


async def step_back(run: Run, plan: Plan) -> Sequence[str]:
    """The more general question, by the model."""
    return list(lines(await _ask(run, plan, "expand/step-back", LINE)))[:1]


async def hyde(run: Run, plan: Plan) -> Sequence[str]:
    """What a passage that answers the question might say, by the model."""
    passage = " ".join((await _ask(run, plan, "expand/hyde", PASSAGE)).split())
    return [] if _TALK.search(passage) or not passage else [_LEAD.sub("", passage)]


async def _ask(run: Run, plan: Plan, name: str, bounds: Bounds) -> str:
    prompt = render_prompt(name, plan.question, {"question": plan.text}, bounds, run=run)
    if prompt is None:
        raise ProviderError("the question is too long for the model's window; it was done without")
    return await complete(prompt, bounds, run=run)


def lines(text: str) -> Iterator[str]:
    """What a model wrote as lines that can be searched for: without numbers, bullets, quotes and talk."""
    for line in text.splitlines():
        bare = " ".join(_LEAD.sub("", line).split()).strip("\"'„“”«»`* ")
        if 2 < len(bare) <= LONGEST_LINE and not _TALK.search(bare) and any(map(str.isalnum, bare)):
            yield bare


def _new(texts: Sequence[str], known: Sequence[str]) -> Iterator[str]:
    """Each text once, and none that is searched for anyway."""
    seen = {_folded(text) for text in known}
    for text in texts:
        if _folded(text) not in seen:
            seen.add(_folded(text))
            yield text


def _folded(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip().casefold()


def _is_abstract(plan: Plan) -> bool:
    return len(plan.text.split()) < ABSTRACT and not plan.analysis.entities
