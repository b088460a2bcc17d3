"""Correct misspelt words of a question: to words of the documents that the caller may read, or to common words."""

import asyncio
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from unicodedata import is_normalized

from pincite.core.query.question import Question
from pincite.core.run import Run
from pincite.text.dictionary import LANGUAGES, dictionary
from pincite.text.terms import LONGEST, SHORTEST, STOP_WORDS, question_language

LETTERS = {"en": "abcdefghijklmnopqrstuvwxyz", "de": "abcdefghijklmnopqrstuvwxyzäöüß"}
DOCUMENT_WORD_FREQUENCY = 1e-5
"""Frequency assumed for every word of the documents: one word in a hundred thousand."""
SWAPPED_LETTERS_LN, MISSING_LETTER_LN, FIRST_LETTER_LN = 3.0, 2.0, -2.0
"""Log-likelihood (ln) of a slip, relative to a wrong or superfluous letter: swapped letters, a missing letter, and any
slip in the first letter. Chosen on every other misspelling of docs/evaluation.md; nearby values do as well."""
MIN_NAME_CHARS = 5
"""Letters of a name that may be corrected."""
ENDING_CHARS = 2
"""Last letters in which different words often differ: tocopheryl, tocopherol."""
MIN_UNCHANGED_SHARE = 0.5
"""Share of words that a correction must leave unchanged; below, the text is in another language or not language."""

_PART = re.compile(r"\S+")
_CODE = re.compile(r"\w[@/\\_=<>{}|~^*+]|[@/\\_=<>{}|~^*+$#%&]\w|\w[.:]\w|^\W*--?\w|\w\(")
"""Matches a token that is a URL, a path, an option or code."""
_QUOTED = re.compile(r"""["„“”«»`][^"„“”«»`]*["„“”«»`]|(?<!\w)['‚‘][^'‚‘’]*['’](?!\w)""")
_WORD = re.compile(r"\w+")
_WHOLE = re.compile(r"(?<!\w['’])\b\w+\b(?!['’]\w)")
"""A word without an apostrophe: forms such as `doesn't` are in no dictionary."""


@dataclass(frozen=True, slots=True)
class PossibleTypo:
    """A word that may be misspelt, with its offsets; `name` says that it is capitalised inside a sentence."""

    start: int
    end: int
    word: str
    name: bool


def possible_typos(text: str) -> list[PossibleTypo]:
    """The words of a text that may be misspelt; never numbers, codes, acronyms or quotations."""
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    found = []
    for part in _PART.finditer(text):
        if _CODE.search(part.group()) or _has_unusual_characters(part.group()):
            continue
        for match in _WHOLE.finditer(text, *part.span()):
            start, end = match.span()
            if _is_checkable(match.group()) and not any(low <= start < high for low, high in quoted):
                found.append(PossibleTypo(start, end, match.group().lower(), _is_name(text, start)))
    return found


def _is_checkable(token: str) -> bool:
    """Whether a token is a word of indexed length, no stop word, with only its first letter possibly a capital."""
    return (
        SHORTEST <= len(token) <= LONGEST
        and not any(token.lower() in stop for stop in STOP_WORDS.values())
        and all(char.isalpha() and char.lower() != char.upper() for char in token)
        and token[1:].islower()
    )


def _has_unusual_characters(part: str) -> bool:
    """Whether a token holds invisible characters or characters that are not normalised, such as combining accents."""
    return not part.isascii() and not (part.isprintable() and is_normalized("NFKC", part))


def _is_name(text: str, start: int) -> bool:
    before = text[:start].rstrip(" \t\n\"'„“”‚‘«»([*")
    return text[start].isupper() and before != "" and before[-1] not in ".?!:;…–—"


def edits(word: str, language: str) -> dict[str, float]:
    """Every string one slip away from a word, with the log-likelihood of the slip."""
    candidates: dict[str, float] = {}
    for at in range(len(word) + 1):
        for changed, weight in _edits_at(word[:at], word[at:], LETTERS[language]):
            candidates[changed] = max(weight, candidates.get(changed, weight))
    candidates.pop(word, None)
    return candidates


def _edits_at(head: str, tail: str, letters: str) -> Iterator[tuple[str, float]]:
    first = 0.0 if head else FIRST_LETTER_LN
    if len(tail) > 1:
        yield head + tail[1] + tail[0] + tail[2:], SWAPPED_LETTERS_LN
    if tail:
        yield head + tail[1:], first
        yield from ((head + letter + tail[1:], first) for letter in letters)
    yield from ((head + letter + tail, MISSING_LETTER_LN + first) for letter in letters)


def best_correction(
    typo: PossibleTypo, near: Mapping[str, float], held: Collection[str], common: Mapping[str, float]
) -> str | None:
    """The most likely correction among document words and common words; None in doubt.

    `near` are the candidates with the log-likelihood of their slip, `held` those in documents, and `common` the
    frequencies of common words.
    """
    in_documents = {word for word in near if word in held}
    likely = in_documents if typo.name else in_documents.union(word for word in near if word in common)
    if not likely or (typo.name and len(typo.word) < MIN_NAME_CHARS):
        return None

    def score(word: str) -> tuple[float, str]:
        return math.log((DOCUMENT_WORD_FREQUENCY if word in held else 0.0) + common.get(word, 0.0)) + near[word], word

    best = max(likely, key=score)
    rare = typo.name or best not in common  # the word as written may then be another form, or another word
    return None if rare and (len(likely) > 1 or _differs_at_word_edge(typo.word, best, near[best])) else best


def _differs_at_word_edge(written: str, best: str, weight: float) -> bool:
    """Whether a wrong or superfluous letter stands where different words and word forms differ: at the start or end."""
    return weight <= 0 and (written[0] != best[0] or written[-ENDING_CHARS:] != best[-ENDING_CHARS:])


def apply_corrections(text: str, corrections: Mapping[PossibleTypo, str]) -> str:
    """The text with the corrections applied; capitals are kept.

    A question that would lose more than half of its words stays unchanged. One slip in a word of four letters or more
    leaves three quarters of it, so that a correction is never less than 60 % similar to the question.
    """
    if len(corrections) > (1 - MIN_UNCHANGED_SHARE) * len(_WORD.findall(text)):
        return text
    for typo in sorted(corrections, key=lambda one: -one.start):
        word = corrections[typo]
        word = word.capitalize() if text[typo.start].isupper() else word
        text = text[: typo.start] + word + text[typo.end :]
    return text


MAX_UNKNOWN_WORDS = 8
"""A question with more unknown words than this is not corrected: misspelling is not the reason."""


async def spelling_correction(run: Run, question: Question) -> Question:
    """The question with words corrected that are in no document and no dictionary.

    Several queries in one request come from a program and are not corrected.
    """
    vocabulary = run.kit.vocabulary
    if not run.settings.spelling.enabled or vocabulary is None or question.many or question.also:
        return question
    text = question.meant
    checked = possible_typos(text)
    held = await vocabulary.held({one.word for one in checked}, scope=run.scope)
    unknown = [one for one in checked if one.word not in held]
    corrections = await _find_corrections(run, question, unknown) if unknown else {}
    corrected_text = apply_corrections(text, corrections)
    run.observe(words=len(checked), unknown=len(unknown), corrected=len(corrections) if corrected_text != text else 0)
    if corrected_text == text:
        return question
    # A name as written may be right: then both texts are searched.
    other_name = question.standalone is None and any(one.name for one in corrections)
    return replace(question, corrected=corrected_text, guessed=question.guessed or other_name)


async def _find_corrections(run: Run, question: Question, unknown: Sequence[PossibleTypo]) -> dict[PossibleTypo, str]:
    """The corrections of the unknown words that are in no dictionary either."""
    language = question_language(question.meant)
    own = await asyncio.to_thread(dictionary, language)
    wrong = [one for one in unknown if one.word not in own]
    if not wrong or len({one.word for one in wrong}) > MAX_UNKNOWN_WORDS:
        return {}
    candidates = {one.word: edits(one.word, language) for one in wrong}
    vocabulary = run.kit.vocabulary
    assert vocabulary is not None
    near = await vocabulary.among(
        {word for each in candidates.values() for word in each}, scope=run.scope, filters=question.filters
    )
    found = {one: word for one in wrong if (word := best_correction(one, candidates[one.word], near, own.common))}
    for other in LANGUAGES:  # the language of a short question may be wrong; rarely reached
        known = await asyncio.to_thread(dictionary, other) if found else ()
        found = {one: word for one, word in found.items() if one.word not in known}
    return found
