"""Misspelt words are corrected: to words of the documents the asker may see, or to plain ones."""

import asyncio
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from unicodedata import is_normalized

from pincite.core.query.question import Question
from pincite.core.run import Run
from pincite.text import lang
from pincite.text.dictionary import Dictionary, dictionary, languages, read_before
from pincite.text.terms import MAX_WORD_CHARS, MIN_WORD_CHARS, question_language

DOCUMENT_WORD_FREQUENCY = 1e-5
"""What a word of the documents counts, however common it is there: as a word that is every hundred thousandth one said."""
SWAPPED, LEFT_OUT, FIRST = 3.0, 2.0, -2.0
"""Against a letter that is wrong or too much: how much likelier (ln) two are swapped or one is missing, and how much
less likely it is the first one. Chosen on every other misspelling of docs/evaluation.md; those around do as well."""
MIN_NAME_CHARS = 5
MIN_SLIP_CHARS = {1: 5, 0: 6, -1: 7}
"""Letters of a word from which on one may be missing, wrong or too much, where no document has the right word: a shorter
one is rather a word of its own. `json` is not `jason`, `wifi` not `wife`, `gmail` not `mail`."""
ENDING_CHARS = 2
"""Letters in which words of their own differ: tocopheryl, tocopherol."""
MIN_UNCHANGED_SHARE = 0.5
"""A question that shares fewer words with its correction was not misspelt: it is in another language, or no words at all."""

_PART = re.compile(r"\S+")
_CODE = re.compile(r"\w[@/\\_=<>{}|~^*+]|[@/\\_=<>{}|~^*+$#%&]\w|\w[.:]\w|^\W*--?\w|\w\(")
"""What makes a part of a question an address, a path, an option or a piece of code."""
_QUOTED = re.compile(r"""["„“”«»`][^"„“”«»`]*["„“”«»`]|(?<!\w)['‚‘][^'‚‘’]*['’](?!\w)""")
_WORD = re.compile(r"\w+")
_WHOLE = re.compile(r"(?<!\w['’])\b\w+\b(?!['’]\w)")
"""A word that no apostrophe joins to more: a form such as `doesn't` is in no list of words."""


@dataclass(frozen=True, slots=True)
class PossibleTypo:
    """A plain word and where it stands; a `name` is written like one, in the middle of a sentence."""

    start: int
    end: int
    word: str
    name: bool


def possible_typos(text: str) -> list[PossibleTypo]:
    """The words that may be misspelt: plain ones of some length; never figures, codes, acronyms, or what is quoted."""
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
    """Letters that know upper and lower case, the first at most being upper; no small word that is indexed nowhere."""
    return (
        MIN_WORD_CHARS <= len(token) <= MAX_WORD_CHARS
        and token.lower() not in lang.recognised_words("terms.stop_words")
        and all(char.isalpha() and char.lower() != char.upper() for char in token)
        and token[1:].islower()
    )


def _has_unusual_characters(part: str) -> bool:
    """Whether it is put together from more than letters, such as accents of their own or hyphens nobody sees."""
    return not part.isascii() and not (part.isprintable() and is_normalized("NFKC", part))


def _is_name(text: str, start: int) -> bool:
    before = text[:start].rstrip(" \t\n\"'„“”‚‘«»([*")
    return text[start].isupper() and before != "" and before[-1] not in ".?!:;…–—"


def edits(word: str, language: str) -> dict[str, float]:
    """Every word that is one slip away, and how likely that slip is (ln): letters swapped, missing, wrong or too many."""
    made: dict[str, float] = {}
    letters = lang.message("language.alphabet", language)
    for at in range(len(word) + 1):
        for changed, weight in _edits_at(word[:at], word[at:], letters):
            made[changed] = max(weight, made.get(changed, weight))
    made.pop(word, None)
    return made


def _edits_at(head: str, tail: str, letters: str) -> Iterator[tuple[str, float]]:
    first = 0.0 if head else FIRST
    if len(tail) > 1:
        yield head + tail[1] + tail[0] + tail[2:], SWAPPED
    if tail:
        yield head + tail[1:], first
        yield from ((head + letter + tail[1:], first) for letter in letters)
    yield from ((head + letter + tail, LEFT_OUT + first) for letter in letters)


def best_correction(
    suspect: PossibleTypo, near: Mapping[str, float], held: Collection[str], common: Mapping[str, float]
) -> str | None:
    """The word that was most likely meant, of those near that documents hold or are in common use; None on any doubt."""
    there = {word for word in near if word in held}
    usual = (word for word in near if word in common and _is_usual_slip(suspect.word, word, near[word]))
    likely = there if suspect.name else there.union(usual)
    if not likely or (suspect.name and len(suspect.word) < MIN_NAME_CHARS):
        return None

    def score(word: str) -> tuple[float, str]:
        return math.log((DOCUMENT_WORD_FREQUENCY if word in held else 0.0) + common.get(word, 0.0)) + near[word], word

    best = max(likely, key=score)
    rare = suspect.name or best not in common  # what was written may then be as good a word: a form of it, or another
    return None if rare and (len(likely) > 1 or _differs_at_word_edge(suspect.word, best, near[best])) else best


def _is_usual_slip(written: str, meant: str, weight: float) -> bool:
    """Whether letters are swapped, or the word is long enough for another slip."""
    return weight >= SWAPPED or len(written) >= MIN_SLIP_CHARS[len(meant) - len(written)]


def _differs_at_word_edge(written: str, best: str, weight: float) -> bool:
    """Whether a letter is wrong, or too much, where words of their own and forms of a word differ."""
    return weight <= 0 and (written[0] != best[0] or written[-ENDING_CHARS:] != best[-ENDING_CHARS:])


def apply_corrections(text: str, fixes: Mapping[PossibleTypo, str]) -> str:
    """The text with these words in place of what was written, each with a capital where that had one.

    A question that would lose more than half of its words stays as it is. One slip in a word of four letters or more
    leaves three quarters of it, so that no correction is ever less than 60 % like what was asked.
    """
    if len(fixes) > (1 - MIN_UNCHANGED_SHARE) * len(_WORD.findall(text)):
        return text
    for suspect in sorted(fixes, key=lambda one: -one.start):
        word = fixes[suspect]
        word = word.capitalize() if text[suspect.start].isupper() else word
        text = text[: suspect.start] + word + text[suspect.end :]
    return text


def with_apostrophes(text: str) -> str:
    """The text with the apostrophes of contractions that were typed without, and spellings of chats written out.

    `dont` is no slip of `done`.
    """
    known = lang.mapping("spelling.contractions", question_language(text))
    for pattern, word in lang.mapping("spelling.shorthand", question_language(text)).items():
        text = re.sub(rf"(?<!\w){pattern}", word, text)
    return _WHOLE.sub(lambda match: _like(match.group(), known.get(match.group().lower(), match.group())), text)


def _like(written: str, word: str) -> str:
    return word.capitalize() if written[0].isupper() and not word[0].isupper() else word


def _asking_word(suspect: PossibleTypo) -> str | None:
    """The word with which people ask, in any language, that is one slip away; None where there are several."""
    near = {
        word
        for language in languages()
        for word in lang.words("spelling.asking", language) & edits(suspect.word, language).keys()
    }
    return near.pop() if len(near) == 1 and not suspect.name else None


MAX_UNKNOWN_WORDS = 8
"""Where more words than these are unknown to everything, it is not their spelling."""


async def spelling_correction(run: Run, question: Question) -> Question:
    """The question with what it was meant to say, where a word of it is in no document and no dictionary.

    Several texts to be searched together are a program's, not somebody's typing: they are searched as they are.
    """
    vocabulary = run.kit.vocabulary
    if not run.settings.spelling.enabled or vocabulary is None or question.many or question.also:
        return question
    text = with_apostrophes(question.search_text)
    looked_at = possible_typos(text)
    held = await vocabulary.known_words({one.word for one in looked_at}, scope=run.scope)
    unknown = [one for one in looked_at if one.word not in held]
    fixes = await _find_corrections(run, question, unknown) if unknown else {}
    fixed = apply_corrections(text, fixes)
    run.observe(words=len(looked_at), unknown=len(unknown), corrected=len(fixes) if fixed != text else 0)
    if fixed == question.search_text:
        return question
    other_name = question.standalone is None and any(one.name for one in fixes)  # it may be one: both are searched
    return replace(question, corrected=fixed, guessed=question.guessed or other_name)


async def _find_corrections(run: Run, question: Question, unknown: Sequence[PossibleTypo]) -> dict[PossibleTypo, str]:
    """What was meant by those of the unknown words that no dictionary knows either."""
    language = question_language(question.search_text)
    if language not in languages():
        return {}
    own = await _dictionary(language)
    asking = frozenset[str]().union(*(lang.words("spelling.asking", one) for one in languages()))
    wrong = [one for one in unknown if one.word not in own and one.word not in asking]  # `wieviele` is in no dictionary
    if not wrong or len({one.word for one in wrong}) > MAX_UNKNOWN_WORDS:
        return {}
    made = {one.word: edits(one.word, language) for one in wrong}
    vocabulary = run.kit.vocabulary
    assert vocabulary is not None
    near = await vocabulary.words_in_scope(
        {word for each in made.values() for word in each}, scope=run.scope, filters=question.filters
    )
    found = {one: word for one in wrong if (word := best_correction(one, made[one.word], near, own.common))}
    found |= {one: word for one in wrong if one not in found and (word := _asking_word(one))}
    for (
        other
    ) in languages():  # a short question may be in another than it seems; few come so far that this must be read
        known = await _dictionary(other) if found else ()
        found = {one: word for one, word in found.items() if one.word not in known}
    return found


async def _dictionary(language: str) -> Dictionary:
    """The dictionary of a language; it is read in a thread."""
    held = read_before(language)
    return await asyncio.to_thread(dictionary, language) if held is None else held
