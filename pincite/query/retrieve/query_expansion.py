"""More texts to search for than the one that was asked: its parts, other words, a supposed answer, the question behind it.

What a model writes is untrusted: it is cut into lines, cleaned and counted, and only ever searched for. Passages are
judged by what was asked and by nothing else.
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace

from pincite.config.branches.retrieval import Rag
from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.errors import ProviderError
from pincite.query.prompt.helper_call import Bounds, complete, render_prompt
from pincite.query.understand.analysis import with_searches
from pincite.query.understand.decompose import parts_of
from pincite.query.understand.strategy import is_abstract
from pincite.text import lang

MAX_VARIATIONS = 3
STEP_BACK_BOUNDS = Bounds(seconds=20.0, tokens=80, characters=400)
VARIATIONS_BOUNDS = Bounds(seconds=20.0, tokens=200, characters=1200)
HYDE_BOUNDS = Bounds(seconds=20.0, tokens=200, characters=1500)
MAX_QUERY_CHARS = 300

_LEAD = r"^\W*(?:\d{1,2}\s*[.):]|[-*•–]|%s\s*\d*\s*:)\s*"
_TALK = r"%s|</?think|\[source"
"""What a model says about its task instead of doing it."""


def _without_label(text: str) -> str:
    return lang.regex("model_output.query_labels", template=_LEAD, flags=re.IGNORECASE).sub("", text)


def _is_talk(text: str) -> bool:
    return bool(lang.regex("model_output.query_talk", template=_TALK, flags=re.IGNORECASE).search(text))


ExpansionCall = Callable[[Run, Plan], Awaitable[Sequence[str]]]
"""A stage in which the model writes further queries."""


def expands(plan: Plan, rag: Rag) -> bool:
    """Whether there may be further queries."""
    return len(plan.searched) < rag.max_queries and (plan.strategy == "fusion" or bool(model_calls(plan, rag)))


def model_calls(plan: Plan, rag: Rag) -> list[ExpansionCall]:
    """The stages in which the model is asked for further queries."""
    fusion = plan.strategy == "fusion"
    by_meaning = plan.strategy != "lexical_only" and is_abstract(plan.text, plan.analysis)
    enabled = {
        step_back: rag.step_back_enabled or fusion,
        hyde: (rag.hyde_enabled or fusion) and by_meaning,
        query_variations: rag.query_expansion_enabled or fusion,
    }
    return [call for call, is_enabled in enabled.items() if is_enabled]


def with_queries(run: Run, plan: Plan, calls: Sequence[ExpansionCall], written: Sequence[Sequence[str]]) -> Plan:
    """The plan with the parts of the question, up to `rag.max_queries` in all, and every query that the model wrote."""
    room = max(0, run.settings.rag.max_queries - len(plan.searched))
    parts = parts_of(plan.text, plan.analysis)[: min(2, room) if calls else room] if plan.strategy == "fusion" else ()
    hypothetical = [text for call, texts in zip(calls, written, strict=True) for text in texts if call is hyde]
    extra = tuple(_new_queries((*parts, *(text for texts in written for text in texts)), plan.searched))
    run.observe(parts=len(parts), by_model=sum(map(len, written)), searched=len(plan.searched) + len(extra))
    return with_searches(replace(plan, extra=extra), by_meaning=hypothetical) if extra else plan


async def query_variations(run: Run, plan: Plan) -> Sequence[str]:
    """The question in other words, by the model."""
    return list(clean_lines(await _ask(run, plan, "expand/variations", VARIATIONS_BOUNDS)))[:MAX_VARIATIONS]


async def step_back(run: Run, plan: Plan) -> Sequence[str]:
    """The more general question, by the model."""
    return list(clean_lines(await _ask(run, plan, "expand/step-back", STEP_BACK_BOUNDS)))[:1]


async def hyde(run: Run, plan: Plan) -> Sequence[str]:
    """What a passage that answers the question might say, by the model."""
    passage = " ".join((await _ask(run, plan, "expand/hyde", HYDE_BOUNDS)).split())
    return [] if _is_talk(passage) or not passage else [_without_label(passage)]


async def _ask(run: Run, plan: Plan, name: str, bounds: Bounds) -> str:
    prompt = render_prompt(name, plan.question, {"question": plan.text}, bounds, run=run)
    if prompt is None:
        raise ProviderError("the question is too long for the model's window; it was done without")
    return await complete(prompt, bounds, run=run)


def clean_lines(text: str) -> Iterator[str]:
    """What a model wrote as lines that can be searched for: without numbers, bullets, quotes and talk."""
    for line in text.splitlines():
        bare = " ".join(_without_label(line).split()).strip("\"'„“”«»`* ")
        if 2 < len(bare) <= MAX_QUERY_CHARS and not _is_talk(bare) and any(map(str.isalnum, bare)):
            yield bare


def _new_queries(texts: Sequence[str], known: Sequence[str]) -> Iterator[str]:
    """Each text once, and none that is searched for anyway."""
    seen = {_normalise(text) for text in known}
    for text in texts:
        if _normalise(text) not in seen:
            seen.add(_normalise(text))
            yield text


def _normalise(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip().casefold()
