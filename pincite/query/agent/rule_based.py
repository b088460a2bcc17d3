"""The agent without a model: search the question and its parts, then the names in the best sentences.

It uses the same tools as the model; rules decide what is searched next.
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
"""Rounds in which names are searched."""
MAX_PASSAGES = 5
"""Best passages that are searched for names."""
MAX_NAMES_PER_HOP = 4
"""Names that are searched per round."""
SECTION_INTENTS = frozenset({"LIST", "SUMMARY"})
"""Intents for which the whole section of the best passage is read: a list may continue after the passage."""


async def run_preset_calls(run: Run, scratchpad: Scratchpad, preset_calls: Sequence[PresetCall]) -> None:
    """Execute only these calls; their passages are then on the scratchpad."""
    for preset in preset_calls:
        await _make_call(run, scratchpad, preset.backend, preset.call.name, json.loads(preset.call.arguments))
    run.observe(steps=len(scratchpad.steps), hits=[[hit.chunk.id, round(hit.score, 6)] for hit in scratchpad.hits])


async def agent_by_rules(run: Run, plan: Plan, scratchpad: Scratchpad, backend: ToolBackend) -> None:
    """Search the question, then names in the results; for lists and summaries, read the best passage's section."""
    max_queries = min(run.settings.rag.max_queries, MAX_QUERIES)
    queries = list(dict.fromkeys((plan.text, *parts_of(plan.text, plan.analysis))))[:max_queries]
    searched = {fold(query) for query in queries}
    await _make_call(run, scratchpad, backend, "rag_search", {"queries": queries})
    for _ in range(MAX_HOPS):
        if len(scratchpad.steps) >= run.settings.agent.max_iterations or scratchpad.full:
            break
        new_queries = [query for query in _next_queries(plan, scratchpad.hits) if fold(query) not in searched][
            : min(max_queries, MAX_NAMES_PER_HOP)
        ]
        if not new_queries:
            break
        searched |= {fold(query) for query in new_queries}
        await _make_call(run, scratchpad, backend, "rag_search", {"queries": new_queries})
    if plan.intent in SECTION_INTENTS and scratchpad.hits and len(scratchpad.steps) < run.settings.agent.max_iterations:
        best = max(scratchpad.hits, key=lambda hit: hit.relevance).chunk
        read_arguments: dict[str, object] = {"doc_id": best.document_id}
        if best.heading_path:
            read_arguments["section"] = best.heading_path[-1]
        await _make_call(run, scratchpad, backend, "read_document", read_arguments)
    run.observe(steps=len(scratchpad.steps), hits=[[hit.chunk.id, round(hit.score, 6)] for hit in scratchpad.hits])


async def _make_call(
    run: Run, scratchpad: Scratchpad, backend: ToolBackend, tool: str, arguments: dict[str, object]
) -> None:
    """Execute one call, put its passages on the scratchpad, and emit the step."""
    call = ToolCall(f"rule_{len(scratchpad.steps) + 1}", tool, json.dumps(arguments, ensure_ascii=False))
    try:
        result = await call_tool(call, backend)
    except Unavailable as error:
        run.degrade(tool, f"the tool failed: {error}")
        result = ToolResult("the tool failed", failed=True)
    before = len(scratchpad.hits)
    _, numbers = scratchpad.show(result.hits, run.settings.agent.result_tokens * 4)
    step = Step(len(scratchpad.steps) + 1, tool, arguments, result.summary, numbers, result.failed)
    scratchpad.steps.append(step)
    run.emit(Stepped(step))
    if len(scratchpad.hits) > before:
        run.emit(SourcesFound(sources_of(scratchpad.hits, cited=frozenset())))


def _next_queries(plan: Plan, hits: Sequence[Hit]) -> Iterator[str]:
    """The next queries: new names in the best sentences, each with the words of the question missing there."""
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
    """The sentence of a passage with most words of the question."""
    wanted = set(terms(question, chunk.language))
    spans = sentences(chunk.text) or [(0, len(chunk.text))]
    start, end = max(spans, key=lambda span: len(wanted & set(terms(chunk.text[span[0] : span[1]], chunk.language))))
    return chunk.text[start:end]


def _missing_words(question: str, sentence: str, chunk: RetrievedChunk) -> str:
    """The words of a question that are in neither a sentence nor the title of its passage."""
    held = set(terms(f"{chunk.title} {sentence}", chunk.language))
    words = [word.strip("?!.,;:()\"'„“”«»") for word in question.split()]
    return " ".join(word for word in words if (found := set(terms(word, chunk.language))) and not found & held)
