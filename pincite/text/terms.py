"""Index terms: the words of a text, folded, stemmed by language, without stop words; and the language of a question."""

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

import Stemmer

from pincite.text import lang

STEMMERS = {
    "da": "danish",
    "de": "german",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
}

MIN_WORD_CHARS, MAX_WORD_CHARS = 4, 30
"""Length of the words that spelling correction considers; a shorter word has too many similar ones."""
MIN_EVIDENCE = 2
"""Stop words that prove a language without `everywhere`: a single one, as French `de`, is in many languages."""
OWN_LETTER_WEIGHT = 2
"""Stop words that one word with a letter such as `ß` counts as, when the language of a question is chosen."""

_WORD = re.compile(r"[^\W_]+")
_CJK = re.compile(r"([\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+)")
_local = threading.local()


def words(text: str) -> list[str]:
    """The words of a text in lower case; runs of a script without blanks become pairs of characters."""
    if text.isascii():  # nothing to normalise, and no runs to cut
        return _WORD.findall(text.lower())
    found: list[str] = []
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).lower()):
        if word.isascii():
            found.append(word)
            continue
        for part in _CJK.split(word):
            if _CJK.fullmatch(part):
                found.extend(part[i : i + 2] for i in range(max(1, len(part) - 1)))
            elif part:
                found.append(part)
    return found


@cache
def stop_words(language: str) -> frozenset[str]:
    """The words of a language that are not indexed; none for a language without a file."""
    return lang.words("terms.stop_words", language) | lang.words("terms.elisions", language)


def stem(word: str, language: str) -> str:
    """One word as it is indexed in a language: stemmed, then without accents, umlauts and ß."""
    return _stem(word, language if language in STEMMERS else "")


def terms(text: str, language: str) -> list[str]:
    """The index terms of a text, in order, with repetitions; then the keys of what has other spellings."""
    from pincite.text.wording.equivalents import keys_in  # it reads numbers, which are compared by stems

    return [*plain_terms(text, language), *keys_in(text, language)]


def plain_terms(text: str, language: str) -> list[str]:
    """The index terms of a text without the keys of other spellings, which take fifteen times as long to find."""
    stop, stemmed = stop_words(language), language if language in STEMMERS else ""
    return [_stem(word, stemmed) for word in words(text) if word not in stop]


def question_words(text: str, language: str = "") -> list[str]:
    """The words of a question in lower case, with a key for each thing that has other spellings."""
    from pincite.text.wording.equivalents import normalised

    return words(normalised(text, language or question_language(text)))


def forms(text: str, language: str) -> dict[str, str]:
    """The plain words of a text, each with its index term; numbers, codes and stop words are left out."""
    plain = {word for word in words(text) if MIN_WORD_CHARS <= len(word) <= MAX_WORD_CHARS and word.isalpha()}
    return {word: stem(word, language) for word in plain - stop_words(language)}


def query_terms(text: str, languages: Iterable[str]) -> Counter[str]:
    """The index terms of a question: each word as any of the languages indexes it.

    A question of stop words alone keeps them, so that "to be or not to be" is found in texts of a language that
    indexes these words.
    """
    languages = list(languages) or ["en"]
    found = question_words(text)
    stop = stop_words(question_language(text))  # of its own language only: "war" is one in German
    kept = [word for word in found if word not in stop] or found
    counts: Counter[str] = Counter()
    for word in kept:
        counts.update({stem(word, language) for language in languages})
    return counts


@lru_cache(maxsize=200_000)
def _stem(word: str, language: str) -> str:
    if language and len(word) > 2:
        word = _stemmer(language).stemWord(word)
    return word if word.isascii() else _fold(word)


def _stemmer(language: str) -> "Stemmer.Stemmer":
    """The stemmer of this thread; PyStemmer's objects are not thread-safe."""
    stemmers: dict[str, Stemmer.Stemmer] = _local.__dict__.setdefault("stemmers", {})
    if language not in stemmers:
        stemmers[language] = Stemmer.Stemmer(STEMMERS[language], 0)
    return stemmers[language]


def _fold(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", word.replace("ß", "ss"))
    return "".join(char for char in decomposed if not unicodedata.combining(char)) or word


def question_language(text: str) -> str:
    """The language of a question among those with a file, by its words and letters; English where these are equal.

    A question is too short for a statistical model.
    """
    return _likely_languages(text)[0]


def may_be_in(text: str, language: str) -> bool:
    """Whether nothing tells that a question is in another language than this."""
    return language in _likely_languages(text)


@lru_cache(maxsize=256)
def _likely_languages(text: str) -> tuple[str, ...]:
    """The languages that most words and letters of a text speak for, English first."""
    scores = dict.fromkeys(lang.LANGUAGES, 0)
    languages_of, letters = _telling_words(), _own_letters()
    for word in words(text):
        for language in languages_of.get(word, ()):
            scores[language] += 1
        if not word.isascii():
            for language, own in letters.items():
                scores[language] += 0 if own.isdisjoint(word) else OWN_LETTER_WEIGHT
    likely = [one for one in scores if one in lang.recognised() or scores[one] >= MIN_EVIDENCE]
    most = max(scores[one] for one in likely)
    return tuple(one for one in likely if scores[one] == most)


@cache
def _telling_words() -> Mapping[str, tuple[str, ...]]:
    """Each word that tells a language, with the languages that have it: stop words, and words with which people ask."""
    keys = ("terms.stop_words", "spelling.asking", "language.telling")
    by_language = {
        language: frozenset[str]().union(*(lang.words(key, language) for key in keys)) for language in lang.LANGUAGES
    }
    return {
        word: tuple(language for language, telling in by_language.items() if word in telling)
        for word in frozenset[str]().union(*by_language.values())
    }


@cache
def _own_letters() -> Mapping[str, frozenset[str]]:
    """The letters that tell a language."""
    return {one: frozenset("".join(lang.words("language.own_letters", one))) for one in lang.LANGUAGES}
