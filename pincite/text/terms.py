"""The words a text is found by: folded, stemmed by language, without stop words."""

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import Stemmer

STEMMERS = {
    "da": "danish", "de": "german", "en": "english", "es": "spanish", "fi": "finnish", "fr": "french", "hu": "hungarian",
    "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sv": "swedish", "tr": "turkish",
}  # fmt: skip

STOP_WORDS = {
    "en": frozenset(
        "a about above after again against all am an and any are as at be because been before being below between both "
        "but by can could did do does doing down during each few for from further had has have having he her here hers "
        "him his how i if in into is it its itself just me more most my no nor not now of off on once only or other our "
        "out over own same she should so some such than that the their them then there these they this those through to "
        "too under until up very was we were what when where which while who whom why will with would you your".split()
    ),
    "de": frozenset(
        "aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes auch auf aus bei "
        "bin bis bist da dadurch daher damit dann das dass dein deine dem den denn der des dessen die dies diese diesem "
        "diesen dieser dieses doch dort du durch ein eine einem einen einer eines er es etwas euer eure für gegen gewesen "
        "hab habe haben hat hatte hatten hier hinter ich ihr ihre ihrem ihren ihrer im in indem ins ist jede jedem jeden "
        "jeder jedes jene jenem jenen jener jenes kann kein keine keinem keinen keiner können könnte man mein meine mit "
        "muss musste müssen nach nicht noch nun nur ob oder ohne sehr sein seine seinem seinen seiner sich sie sind so "
        "solche soll sollte sondern sonst über um und uns unser unsere unter vom von vor wann war waren warum was weil "
        "welche welchem welchen welcher welches wenn wer werde werden wie wieder will wir wird wirst wo wurde wurden zu "
        "zum zur zwar zwischen".split()
    ),
}

SHORTEST, LONGEST = 4, 30
"""Letters of a word that can be told from a misspelling of another."""

_WORD = re.compile(r"[^\W_]+")
_CJK = re.compile(r"([\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+)")
_local = threading.local()


def words(text: str) -> list[str]:
    """The words of a text in lower case, as they stand; runs of a script without blanks become pairs."""
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


def stem(word: str, language: str) -> str:
    """One word as it is indexed in a language: stemmed, then without accents, umlauts and ß."""
    return _stem(word, language if language in STEMMERS else "")


def terms(text: str, language: str) -> list[str]:
    """What a text in a language is indexed by, in order, repeats included."""
    stop, stemmed = STOP_WORDS.get(language, frozenset()), language if language in STEMMERS else ""
    return [_stem(word, stemmed) for word in words(text) if word not in stop]


def forms(text: str, language: str) -> dict[str, str]:
    """The plain words of a text in a language, each with what it is indexed by; what is none, such as a code, is left out."""
    stop = STOP_WORDS.get(language, frozenset())
    plain = {word for word in words(text) if SHORTEST <= len(word) <= LONGEST and word.isalpha()}
    return {word: stem(word, language) for word in plain - stop}


def query_terms(text: str, languages: Iterable[str]) -> Counter[str]:
    """What a question is looked up by: each word as any of the languages would have indexed it.

    A question of stop words alone is looked up by them, so that "to be or not to be" can be found
    where the language of the text keeps them.
    """
    languages = list(languages) or ["en"]
    found = words(text)
    stop = STOP_WORDS[question_language(text)]  # of its own language only: "war" is one in German
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
    """A stemmer of this thread: they must not be shared."""
    stemmers: dict[str, Stemmer.Stemmer] = _local.__dict__.setdefault("stemmers", {})
    if language not in stemmers:
        stemmers[language] = Stemmer.Stemmer(STEMMERS[language], 0)
    return stemmers[language]


def _fold(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", word.replace("ß", "ss"))
    return "".join(char for char in decomposed if not unicodedata.combining(char)) or word


def question_language(text: str) -> str:
    """German or English, by its small words and letters: a question is too short for a statistical guess."""
    found = words(text)
    german = sum(word in STOP_WORDS["de"] for word in found) + 2 * sum(not word.isascii() for word in found)
    english = sum(word in STOP_WORDS["en"] for word in found)
    return "de" if german > english else "en"
