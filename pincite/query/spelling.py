"""Misspelt words are corrected: to words of the documents the asker may see, or to plain ones."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from pincite.core.answers import Question
from pincite.core.run import Run
from pincite.dictionary import LANGUAGES, dictionary
from pincite.query.typos import Suspect, edits, meant, mended, suspects
from pincite.words import question_language

MOST = 8
"""Where more words than these are unknown to everything, it is not their spelling."""


async def correct(run: Run, question: Question) -> Question:
    """The question with what it was meant to say, where a word of it is in no document and no dictionary.

    Several texts to be searched together are a program's, not somebody's typing: they are searched as they are.
    """
    vocabulary = run.kit.vocabulary
    if not run.settings.spelling.enabled or vocabulary is None or question.many or question.also:
        return question
    text = question.meant
    looked_at = suspects(text)
    held = await vocabulary.held({one.word for one in looked_at}, scope=run.scope)
    unknown = [one for one in looked_at if one.word not in held]
    fixes = await _fixes(run, question, unknown) if unknown else {}
    fixed = mended(text, fixes)
    run.observe(words=len(looked_at), unknown=len(unknown), corrected=len(fixes) if fixed != text else 0)
    if fixed == text:
        return question
    other_name = question.standalone is None and any(one.name for one in fixes)  # it may be one: both are searched
    return replace(question, corrected=fixed, guessed=question.guessed or other_name)


async def _fixes(run: Run, question: Question, unknown: Sequence[Suspect]) -> dict[Suspect, str]:
    """What was meant by those of the unknown words that no dictionary knows either."""
    language = question_language(question.meant)
    own = await asyncio.to_thread(dictionary, language)
    wrong = [one for one in unknown if one.word not in own]
    if not wrong or len({one.word for one in wrong}) > MOST:
        return {}
    made = {one.word: edits(one.word, language) for one in wrong}
    vocabulary = run.kit.vocabulary
    assert vocabulary is not None
    near = await vocabulary.among(
        {word for each in made.values() for word in each}, scope=run.scope, filters=question.filters
    )
    found = {one: word for one in wrong if (word := meant(one, made[one.word], near, own.common))}
    for other in LANGUAGES:  # a short question may be in another than it seems; few come so far that this must be read
        known = await asyncio.to_thread(dictionary, other) if found else ()
        found = {one: word for one, word in found.items() if one.word not in known}
    return found
