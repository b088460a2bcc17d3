"""Generate questions with the configured model: one call per passage, and each question is checked."""

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

MAX_PASSAGE_CHARS = 3000
"""Maximum characters of a passage in the prompt."""
CALL_TIMEOUT_S = 30.0
MAX_QUESTION_TOKENS, MAX_QUESTION_CHARS = 120, 300
MAX_CONSECUTIVE_FAILURES = 5
"""Consecutive failures after which no more calls are made."""
MIN_PASSAGE_CHARS = 80
"""Minimum length of a passage that questions are generated from."""

INSTRUCTIONS = """\
Write one question that the passage below answers and that somebody might ask who does not know the passage.
The question must make sense alone: name what it is about, and never speak of "the passage" or "the text".
Write in the language of the passage. Answer with the question alone, on one line.

Passage (from "{title}"):
{text}"""


@dataclass(frozen=True, slots=True)
class WrittenQuestions:
    """The usable questions, and notes on failures."""

    questions: tuple[SetQuestion, ...]
    notes: tuple[str, ...]


async def write_questions(
    llm: LLM, passages: Sequence[SampledPassage], count: int, seed: int, report: Callable[[int], None]
) -> WrittenQuestions:
    """Generate `count` questions from passages in a random order given by the seed; `report` gets the call number.

    A failed call is skipped; after several failures in a row no more calls are made.
    """
    if isinstance(llm, Discoverable):
        await llm.discover()
    order = [one for one in passages if len(one.text) >= MIN_PASSAGE_CHARS]
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
            if in_a_row == MAX_CONSECUTIVE_FAILURES:
                break
        else:
            in_a_row = 0
            if is_usable(text, passage):
                made = SetQuestion(text, "written", passage.language, passage.place, passage.version, passage.ordinal)
                found.setdefault(text.casefold(), made)
            else:
                unusable += 1
        report(number)
    return WrittenQuestions(tuple(found.values()), tuple(_notes(failures, unusable)))


def _notes(failures: Sequence[str], unusable: int) -> list[str]:
    notes = [f"{len(failures)} calls of the model failed; the last: {failures[-1]}"] if failures else []
    return [*notes, f"{unusable} of the generated questions were unusable"] if unusable else notes


async def _write(llm: LLM, passage: SampledPassage) -> str:
    """Return the first line of the model's output."""
    shown = INSTRUCTIONS.format(title=passage.title, text=passage.text[:MAX_PASSAGE_CHARS])
    sampling = Sampling(max_tokens=MAX_QUESTION_TOKENS)
    prompt = Prompt(passage.title, (Message("user", shown),), (), tokens=0, sampling=sampling)
    text = ""
    try:
        async with asyncio.timeout(CALL_TIMEOUT_S), aclosing(llm.write(prompt)) as pieces:  # type: ignore[type-var]
            async for piece in pieces:
                text += piece.text
                if len(text) > 4 * MAX_QUESTION_CHARS:
                    break
    except TimeoutError:
        raise Unavailable(f"the model took longer than {CALL_TIMEOUT_S:g} s to write a question") from None
    text = text.rpartition("</think>")[2]
    return next((line.strip(" \t\"'„“”*`") for line in text.splitlines() if line.strip()), "").replace("\0", " ")


def is_usable(text: str, passage: SampledPassage) -> bool:
    """Whether a text is a question in the passage's language that shares terms with it and does not say "passage"."""
    language = passage.language if passage.language in ("de", "en") else ""
    fits = (
        text.endswith("?") and len(text) <= MAX_QUESTION_CHARS and (not language or question_language(text) == language)
    )
    shared = set(terms(text, passage.language)) & set(terms(passage.text, passage.language))
    return fits and bool(shared) and not any(word in text.casefold() for word in ("passage", "the text", "dem text"))
