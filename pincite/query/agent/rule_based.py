"""An answer looked up step by step without a model: the question and its parts, then the names its best sentences lead to.

The steps are those a model would make with the same tools; what is searched next is decided by rules.
"""

import json
from collections.abc import Iterator, Sequence

from pincite.core.query.hits import Hit, RetrievedChunk
from pincite.core.query.plan import Plan
from pincite.core.query.tools import Step, ToolCall
from pincite.core.run import Run, SourcesFound, Stepped
from pincite.errors import Unavailable
from pincite.query.agent.scratchpad import Scratchpad
from pincite.query.agent.tools import MAX_QUERIES, PresetCall, ToolBackend, ToolResult, call_tool
from pincite.query.citations.sources import sources_of
from pincite.query.understand.decompose import parts_of
from pincite.query.understand.entities import entities_in
from pincite.text.sentences import fold, sentences
from pincite.text.terms import terms

MAX_HOPS = 2
"""How often names are followed."""
MAX_PASSAGES = 5
"""Passages whose sentences are looked at for names."""
MAX_NAMES_PER_HOP = 4
"""Names that are followed at a time."""
SECTION_INTENTS = frozenset({"LIST", "SUMMARY"})
"""Intents for which the section of the best passage is read: a list goes on where a passage ends."""


async def run_preset_calls(run: Run, scratchpad: Scratchpad, preset_calls: Sequence[PresetCall]) -> None:
    """Make these calls and no others; all that they bring is on the scratchpad in the end."""
    for preset in preset_calls:
        await _make_call(run, scratchpad, preset.backend, preset.call.name, json.loads(preset.call.arguments))
    run.observe(steps=len(scratchpad.steps), hits=[[hit.chunk.id, round(hit.score, 6)] for hit in scratchpad.hits])


async def agent_by_rules(run: Run, plan: Plan, scratchpad: Scratchpad, backend: ToolBackend) -> None:
    """Search, follow what is named, read on; all of it is on the scratchpad in the end."""
    most = min(run.settings.rag.max_queries, MAX_QUERIES)
    queries = list(dict.fromkeys((plan.text, *parts_of(plan.text, plan.analysis))))[:most]
    searched = {fold(query) for query in queries}
    await _make_call(run, scratchpad, backend, "rag_search", {"queries": queries})
    for _ in range(MAX_HOPS):
        if len(scratchpad.steps) >= run.settings.agent.max_iterations or scratchpad.full:
            break
        further = [query for query in _next_queries(plan, scratchpad.hits) if fold(query) not in searched][
            : min(most, MAX_NAMES_PER_HOP)
        ]
        if not further:
            break
        searched |= {fold(query) for query in further}
        await _make_call(run, scratchpad, backend, "rag_search", {"queries": further})
    if plan.intent in SECTION_INTENTS and scratchpad.hits and len(scratchpad.steps) < run.settings.agent.max_iterations:
        best = max(scratchpad.hits, key=lambda hit: hit.relevance).chunk
        wish: dict[str, object] = {"doc_id": best.document_id}
        if best.heading_path:
            wish["section"] = best.heading_path[-1]
        await _make_call(run, scratchpad, backend, "read_document", wish)
    run.observe(steps=len(scratchpad.steps), hits=[[hit.chunk.id, round(hit.score, 6)] for hit in scratchpad.hits])


async def _make_call(
    run: Run, scratchpad: Scratchpad, backend: ToolBackend, tool: str, arguments: dict[str, object]
) -> None:
    """One call, told as a step."""
    call = ToolCall(f"rule_{len(scratchpad.steps) + 1}", tool, json.dumps(arguments, ensure_ascii=False))
    try:
        result = await call_tool(call, backend)
    except Unavailable as error:
        run.degrade(tool, f"it did not work: {error}")
        result = ToolResult("it did not work", failed=True)
    before = len(scratchpad.hits)
    _, numbers = scratchpad.show(result.hits, run.settings.agent.result_tokens * 4)
    step = Step(len(scratchpad.steps) + 1, tool, arguments, result.said, numbers, result.failed)
    scratchpad.steps.append(step)
    run.emit(Stepped(step))
    if len(scratchpad.hits) > before:
        run.emit(SourcesFound(sources_of(scratchpad.hits, cited=frozenset())))


def _next_queries(plan: Plan, hits: Sequence[Hit]) -> Iterator[str]:
    """What to search for next: names that the best sentences bring in, with what they leave open of the question."""
    asked = fold(plan.text)
    best = sorted(hits, key=lambda hit: -hit.relevance)[:MAX_PASSAGES]
    weights: dict[str, float] = {}
    open_words: dict[str, str] = {}
    for hit in best:
        sentence = _closest_sentence(plan.text, hit.chunk)
        missing = _missing_words(plan.text, sentence, hit.chunk)
        for entity in entities_in(sentence):
            if entity.kind in ("name", "quoted") and fold(entity.text) not in asked and len(entity.text) > 3:
                weights[entity.text] = weights.get(entity.text, 0.0) + max(hit.relevance, 0.01)
                open_words.setdefault(entity.text, missing)
    for name in sorted(weights, key=lambda name: -weights[name])[: 2 * MAX_NAMES_PER_HOP]:
        yield f"{name} {open_words[name]}".strip()


def _closest_sentence(question: str, chunk: RetrievedChunk) -> str:
    """The sentence of a passage that shares most words with the question."""
    wanted = set(terms(question, chunk.language))
    spans = sentences(chunk.text) or [(0, len(chunk.text))]
    start, end = max(spans, key=lambda span: len(wanted & set(terms(chunk.text[span[0] : span[1]], chunk.language))))
    return chunk.text[start:end]


def _missing_words(question: str, sentence: str, chunk: RetrievedChunk) -> str:
    """The words of a question that neither a sentence nor the title above it holds."""
    held = set(terms(f"{chunk.title} {sentence}", chunk.language))
    words = [word.strip("?!.,;:()\"'„“”«»") for word in question.split()]
    return " ".join(word for word in words if (found := set(terms(word, chunk.language))) and not found & held)
