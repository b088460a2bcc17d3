"""Which document or section a question names: by title, file name and headings."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from pincite.core.protocols import NamedDocument
from pincite.text import lang
from pincite.text.terms import question_language, stem, stop_words, words

MIN_NAME_SHARE = 0.5
"""Share of the words of a name, weighted by their length, from which on a document is the one that is named."""
MAX_WORD_WEIGHT = 8
MIN_ROOT_CHARS = 5
"""Letters of a word that counts where a longer word begins or ends with it."""

_DATE = re.compile(r"(?<!\d)(?:19|20)\d{2}[-_. ]?(0[1-9]|1[0-2])(?:[-_. ]?\d{2})?(?!\d)")
_GERMAN_DATE = re.compile(r"(?<!\d)\d{1,2}[._-](0?[1-9]|1[0-2])[._-](?:19|20)?\d{2}(?!\d)")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


def named_words(question: str) -> list[str]:
    """The words by which a question names what it is about, without those that ask for a form."""
    language = question_language(question)
    left_out = stop_words(language) | lang.all_words("questions.form_words")
    distinct = list(dict.fromkeys(words(question)))
    return [word for word in distinct if word not in left_out and word not in stop_words("en")]


def side_words(left: str, right: str) -> tuple[list[str], list[str]]:
    """The words that name each side of a comparison and not the other; all of them where a side has no own ones."""
    mine, theirs = (_specific(named_words(side)) for side in (left, right))
    own = [word for word in mine if word not in theirs], [word for word in theirs if word not in mine]
    return own if all(own) else (mine, theirs)


def _specific(named: list[str]) -> list[str]:
    """Words without those for any document, such as `rules`; all of them where there are no others."""
    generic = lang.all_words("extractive.document_words")
    return [word for word in named if word not in generic] or named


def name_share(named: Sequence[str], names: Iterable[str]) -> float:
    """The share of these words that the names have, a long word weighing more than a short one."""
    held = frozenset[str]().union(*map(name_forms, names))
    total = sum(map(_weight, named))
    return sum(_weight(word) for word in named if _is_held(word, held)) / total if total else 0.0


@lru_cache(maxsize=2048)
def name_forms(name: str) -> frozenset[str]:
    """The forms of a name's words: stems in all languages, umlauts in two letters, and the months of its dates."""
    found = set[str]()
    for word in words(name.replace("_", " ")):
        found |= _forms(word)
    for match in (*_DATE.finditer(name), *_GERMAN_DATE.finditer(name)):
        found |= _month_forms(int(match[1]))
    return frozenset(found)


def spellings(word: str) -> list[str]:
    """A word as a file name may write it, without its ending: with umlauts, and with two letters in their place."""
    root = word[: max(MIN_ROOT_CHARS, len(word) - 2)] if len(word) > MIN_ROOT_CHARS else word
    return list(dict.fromkeys((root, root.translate(_UMLAUTS))))


def is_in_name(word: str, name: str) -> bool:
    """Whether a name has a word, in any form."""
    return _is_held(word, name_forms(name))


def is_plural(word: str, language: str) -> bool:
    """Whether a word can be a plural, by its ending."""
    endings = lang.sequence("extractive.plural_endings", language) or ("s",)
    return word.lower().endswith(endings) or word.lower() in lang.recognised_words("extractive.plurals", language)


def month_signs(word: str) -> list[str]:
    """The month that a word names, in any language, as dates in file names write it."""
    months = [number for number in range(1, 13) if word in _month_forms(number)]
    return [sign for number in months for sign in (f"-{number:02}", f".{number:02}.", f"_{number:02}")]


def pair_named(left: Sequence[str], right: Sequence[str], known: Sequence[NamedDocument]) -> tuple[str, ...]:
    """The two documents of which one has a word of each side that the other lacks; none where there are no two.

    A word that both names have counts twice: `room hire 2023 and 2024` names two documents about room hire.
    """
    best, pair = 0, tuple[str, ...]()
    names = {one.document_id: name_forms(f"{one.title} {one.name}") for one in known}
    for one, its in names.items():
        for other, others in names.items():
            if one == other:
                continue
            own = sum(_weight(word) for word in left if _is_held(word, its) and not _is_held(word, others))
            others_own = sum(_weight(word) for word in right if _is_held(word, others) and not _is_held(word, its))
            shared = {word for word in (*left, *right) if _is_held(word, its) and _is_held(word, others)}
            score = own + others_own + 2 * sum(map(_weight, shared))  # a shared word names both
            if own and others_own and score > best:
                best, pair = score, (one, other)
    return pair


@lru_cache(maxsize=16)
def _month_forms(number: int) -> frozenset[str]:
    found = set[str]()
    for language in lang.LANGUAGES:
        for key in ("dates.months", "dates.month_abbreviations"):
            listed = lang.sequence(key, language)
            for month in listed[number - 1].lower().split(",") if len(listed) == 12 else ():
                found |= _forms(month)
    return frozenset(found - {"-"})


@lru_cache(maxsize=4096)
def _forms(word: str) -> frozenset[str]:
    spelled = word.translate(_UMLAUTS)
    return frozenset({word, spelled, *(stem(one, language) for one in (word, spelled) for language in lang.LANGUAGES)})


def _is_held(word: str, held: frozenset[str]) -> bool:
    own = _forms(word)
    if own & held:
        return True
    long = [form for form in own if len(form) >= MIN_ROOT_CHARS]
    return any(other.startswith(form) or other.endswith(form) for form in long for other in held)


def _weight(word: str) -> int:
    return MAX_WORD_WEIGHT if any(map(str.isdigit, word)) else min(len(word), MAX_WORD_WEIGHT)
