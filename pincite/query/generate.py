"""The prompt becomes a draft, streamed."""

from dataclasses import replace

from pincite.core.answers import Draft, Piece, Prompt, Quote, Usage
from pincite.core.protocols import LLM
from pincite.core.run import Run, Token
from pincite.errors import Unavailable

BROKEN_OFF = "incomplete"
"""Finish reason of a draft whose model failed in the middle."""


async def generate(run: Run, prompt: Prompt) -> Draft:
    """Let the configured model write."""
    return await _write(run, run.kit.llm, prompt)


async def extract(run: Run, prompt: Prompt) -> Draft:
    """Let code choose and cite sentences: the way out when no model answers."""
    return await _write(run, run.kit.extractive, prompt)


async def _write(run: Run, llm: LLM, prompt: Prompt) -> Draft:
    text, quotes, last = "", list[Quote](), Piece()
    usage: Usage | None = None
    try:
        async for piece in llm.write(prompt):
            if piece.text:
                run.emit(Token(piece.text))
                text += piece.text
            if piece.quote:  # such a piece ends with its mark
                mark = len(text) - len(f"[Source {piece.quote.source}]")
                quotes.append(replace(piece.quote, mark_start=mark, mark_end=len(text)))
            usage = piece.usage or usage
            last = piece if piece.finish_reason else last
    except Unavailable as error:
        if not text:
            raise
        run.note("generate", f"the model stopped in the middle: {error}")
        last = Piece(finish_reason=BROKEN_OFF)
    run.observe(model=llm.name, characters=len(text), finish_reason=last.finish_reason)
    return Draft(text, last.model or llm.name, last.finish_reason, usage, tuple(quotes))
