"""Questions written by the configured model: one call a passage, each checked before it counts."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from random import Random

from pincite.core.evaluations import SampledPassage, SetQuestion
from pincite.core.protocols import LLM, Discoverable
from pincite.core.query.prompt import Message, Prompt
from pincite.core.query.question import Sampling
from pincite.errors import Unavailable
from pincite.text.terms import question_language, terms

SHOWN = 3000
"""Characters of a passage that the model sees."""
LONGEST_S = 30.0
MOST_TOKENS, LONGEST = 120, 300
GIVEN_UP = 5
"""Failures in a row after which the model is left alone."""
SHORTEST = 80
"""Characters of a passage that has something to ask about."""

INSTRUCTIONS = """Write one question that the passage below answers and that somebody might ask who does not know the passage.
The question must make sense alone: name what it is about, and never speak of "the passage" or "the text".
Write in the language of the passage. Answer with the question alone, on one line.

Passage (from "{title}"):
{text}"""


@dataclass(frozen=True, slots=True)
class Written:
    """The questions that could be used, and why others could not."""

    questions: tuple[SetQuestion, ...]
    notes: tuple[str, ...]


async def write_questions(
    llm: LLM, passages: Sequence[SampledPassage], count: int, seed: int, heard: Callable[[int], None]
) -> Written:
    """Ask the model for so many questions, about passages in an order the seed decides; `heard` counts the calls.

    A call that fails is passed over; after several in a row the model is left alone.
    """
    if isinstance(llm, Discoverable):
        await llm.discover()
    order = [one for one in passages if len(one.text) >= SHORTEST]
    Random(seed).shuffle(order)
    found: dict[str, SetQuestion] = {}
    failures: list[str] = []
    unusable = in_a_row = 0
    for number, passage in enumerate(order[:count], start=1):
        try:
            text = await _write(llm, passage)
        except Unavailable as error:
            failures.append(str(error))
            in_a_row += 1
            if in_a_row == GIVEN_UP:
                break
        else:
            in_a_row = 0
            if usable(text, passage):
                made = SetQuestion(text, "written", passage.language, passage.place, passage.version, passage.ordinal)
                found.setdefault(text.casefold(), made)
            else:
                unusable += 1
        heard(number)
    return Written(tuple(found.values()), tuple(_notes(failures, unusable)))


def _notes(failures: Sequence[str], unusable: int) -> list[str]:
    notes = [f"{len(failures)} calls of the model failed; the last: {failures[-1]}"] if failures else []
    return [*notes, f"{unusable} of its questions could not be used"] if unusable else notes


async def _write(llm: LLM, passage: SampledPassage) -> str:
    """The first line that the model writes."""
    shown = INSTRUCTIONS.format(title=passage.title, text=passage.text[:SHOWN])
    sampling = Sampling(max_tokens=MOST_TOKENS)
    prompt = Prompt(passage.title, (Message("user", shown),), (), tokens=0, sampling=sampling)
    text = ""
    try:
        async with asyncio.timeout(LONGEST_S), aclosing(llm.write(prompt)) as pieces:  # type: ignore[type-var]
            async for piece in pieces:
                text += piece.text
                if len(text) > 4 * LONGEST:
                    break
    except TimeoutError:
        raise Unavailable(f"the model took longer than {LONGEST_S:g} s for a question") from None
    text = text.rpartition("</think>")[2]
    return next((line.strip(" \t\"'„“”*`") for line in text.splitlines() if line.strip()), "").replace("\0", " ")


def usable(text: str, passage: SampledPassage) -> bool:
    """Whether it is a question, in the passage's language, about the passage and not about "the passage"."""
    language = passage.language if passage.language in ("de", "en") else ""
    fits = text.endswith("?") and len(text) <= LONGEST and (not language or question_language(text) == language)
    shared = set(terms(text, passage.language)) & set(terms(passage.text, passage.language))
    return fits and bool(shared) and not any(word in text.casefold() for word in ("passage", "the text", "dem text"))
