"""Evidence and question → Prompt, inside the model's window."""

import secrets
from functools import cache
from importlib import resources

from pincite.core.answers import Evidence, Hit, Message, Plan, Prompt
from pincite.core.documents import NO_HEADINGS
from pincite.core.run import Run, SourcesFound
from pincite.query.sources import sources_of
from pincite.tokens import Tokenizer

CHUNK_SHARE = 0.56
"""Part of the model's window that passages may fill; the rest is for instructions, history and the answer."""


async def assemble(run: Run, plan: Plan, evidence: Evidence) -> Prompt:
    """Number the passages, best first, and fit them into the budget: whole or not at all."""
    budget = run.settings.context.max_tokens or int(run.kit.llm.window * CHUNK_SHARE)
    boundary = f"=== {secrets.token_hex(8)} ==="
    chosen: list[Hit] = []
    blocks: list[str] = []
    for hit in evidence.hits:
        block = source_block(len(chosen) + 1, hit, boundary)
        cost = _tokenizer(run.settings.chunking.tokenizer).count(block)
        if cost > budget:
            continue  # whole or not at all; a smaller one further down may still fit
        budget -= cost
        chosen.append(hit)
        blocks.append(block)
    system = _template().replace("{boundary}", boundary).replace("{sources}", "\n\n".join(blocks))
    wish = plan.question.sampling
    if wish.system_prompt:
        system = f"{wish.system_prompt}\n\n{system}"
    tokens = _tokenizer(run.settings.chunking.tokenizer).count(system + plan.text)
    run.observe(sources=len(chosen), left_out=len(evidence.hits) - len(chosen), tokens=tokens)
    run.emit(SourcesFound(sources_of(chosen, cited=frozenset())))
    messages = (Message("system", system), Message("user", plan.text))
    return Prompt(plan.text, messages, tuple(chosen), tokens, wish)


def source_block(number: int, hit: Hit, boundary: str) -> str:
    """One passage as the model sees it, fenced with all that is the document's own: `[Source N] Title > Section`, text."""
    chunk = hit.chunk
    path = [part for part in chunk.heading_path if part not in (chunk.title, NO_HEADINGS)]
    label = " > ".join([chunk.title, *path])
    page = f", page {chunk.page}" if chunk.page else ""
    text = f"{chunk.header}\n{chunk.text}" if chunk.header else chunk.text
    return f"{boundary}\n[Source {number}] {label}{page}\n{text}\n{boundary}"


@cache
def _template() -> str:
    return (resources.files("pincite.query") / "prompts" / "system.txt").read_text(encoding="utf-8")


@cache
def _tokenizer(name: str) -> Tokenizer:
    return Tokenizer(name)
