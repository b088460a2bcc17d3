"""Query expansion: parts of the question, variations, a hypothetical answer (HyDE), a step-back question.

The output of the model is untrusted: it is cut into lines, cleaned and limited, and used for nothing but searching.
The relevance of a passage is measured against the question alone.
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace

from pincite.config.branches.retrieval import Rag
from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.errors import ProviderError
from pincite.query.prompt.helper_call import Bounds, complete, render_prompt
from pincite.query.understand.decompose import parts_of
from pincite.query.understand.understand import with_searches

MAX_VARIATIONS = 3
"""Variations of a question that are searched."""
MIN_CONCRETE_WORDS = 5
"""A question of fewer words and without entities is abstract: a hypothetical answer finds more than the question."""
STEP_BACK_BOUNDS = Bounds(seconds=20.0, tokens=80, characters=400)
VARIATIONS_BOUNDS = Bounds(seconds=20.0, tokens=200, characters=1200)
HYDE_BOUNDS = Bounds(seconds=20.0, tokens=200, characters=1500)
"""Limits of the model calls for a step-back question, variations and a hypothetical answer."""
MAX_QUERY_CHARS = 300
"""Characters of a query written by the model; a longer line is dropped."""

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


ExpansionCall = Callable[[Run, Plan], Awaitable[Sequence[str]]]
"""A stage in which the model writes further queries."""


def expands(plan: Plan, rag: Rag) -> bool:
    """Whether the strategy or the settings ask for further queries and `rag.max_queries` allows any."""
    return _queries_left(plan, rag) > 0 and (plan.strategy == "fusion" or bool(model_calls(plan, rag)))


def model_calls(plan: Plan, rag: Rag) -> list[ExpansionCall]:
    """The enabled stages in which the model writes further queries."""
    fusion = plan.strategy == "fusion"
    by_meaning = plan.strategy != "lexical_only" and _is_abstract(plan)
    enabled = {
        step_back: rag.step_back_enabled or fusion,
        hyde: (rag.hyde_enabled or fusion) and by_meaning,
        query_variations: rag.query_expansion_enabled or fusion,
    }
    return [call for call, is_enabled in enabled.items() if is_enabled]


def with_queries(run: Run, plan: Plan, calls: Sequence[ExpansionCall], written: Sequence[Sequence[str]]) -> Plan:
    """The plan with the parts of the question and the queries that the model wrote, up to `rag.max_queries` in all."""
    parts = parts_of(plan.text, plan.analysis)[: 2 if calls else None] if plan.strategy == "fusion" else ()
    hypothetical = [text for call, texts in zip(calls, written, strict=True) for text in texts if call is hyde]
    new = _new_queries((*parts, *(text for texts in written for text in texts)), plan.searched)
    extra = tuple(new)[: _queries_left(plan, run.settings.rag)]
    run.observe(parts=len(parts), by_model=sum(map(len, written)), searched=len(plan.searched) + len(extra))
    return with_searches(replace(plan, extra=extra), by_meaning=hypothetical) if extra else plan


def _queries_left(plan: Plan, rag: Rag) -> int:
    return rag.max_queries - len(plan.searched)


async def query_variations(run: Run, plan: Plan) -> Sequence[str]:
    """Variations of the question, written by the model."""
    return list(clean_lines(await _ask(run, plan, "expand/variations", VARIATIONS_BOUNDS)))[:MAX_VARIATIONS]


async def step_back(run: Run, plan: Plan) -> Sequence[str]:
    """A more general question, written by the model."""
    return list(clean_lines(await _ask(run, plan, "expand/step-back", STEP_BACK_BOUNDS)))[:1]


async def hyde(run: Run, plan: Plan) -> Sequence[str]:
    """A hypothetical passage that answers the question, written by the model."""
    passage = " ".join((await _ask(run, plan, "expand/hyde", HYDE_BOUNDS)).split())
    return [] if _TALK.search(passage) or not passage else [_LEAD.sub("", passage)]


async def _ask(run: Run, plan: Plan, name: str, bounds: Bounds) -> str:
    prompt = render_prompt(name, plan.question, {"question": plan.text}, bounds, run=run)
    if prompt is None:
        raise ProviderError("the question is too long for the context window of the model; this step was left out")
    return await complete(prompt, bounds, run=run)


def clean_lines(text: str) -> Iterator[str]:
    """The lines of a model's output as queries: without numbering, bullets, quotes and remarks about the task."""
    for line in text.splitlines():
        bare = " ".join(_LEAD.sub("", line).split()).strip("\"'„“”«»`* ")
        if 2 < len(bare) <= MAX_QUERY_CHARS and not _TALK.search(bare) and any(map(str.isalnum, bare)):
            yield bare


def _new_queries(texts: Sequence[str], known: Sequence[str]) -> Iterator[str]:
    """The texts without duplicates and without queries that are searched already."""
    seen = {_normalise(text) for text in known}
    for text in texts:
        if _normalise(text) not in seen:
            seen.add(_normalise(text))
            yield text


def _normalise(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip().casefold()


def _is_abstract(plan: Plan) -> bool:
    return len(plan.text.split()) < MIN_CONCRETE_WORDS and not plan.analysis.entities
