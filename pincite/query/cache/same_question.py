"""Whether two questions ask the same: vectors say that they are alike, and the words have to say so, too.

Embedders put `the report of 2023` and `of 2024`, `who pays` and `who does not pay`, nearer to each other than most ways to
put one question. So two questions count as one only where they say the same words, but for what means nothing: greetings,
articles, case, contractions, which of two question words that mean the same, and where `in 1852` stands.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from pincite.text import lang
from pincite.text.negation import negators
from pincite.text.terms import question_language, stem

Difference = Literal["numbers", "negation", "question", "units", "comparison", "names", "words", "order"]
"""In what two questions differ, what weighs most first; never a word of theirs."""

MAX_CHANGED_FORMS = 2
"""Words that may have another form in two questions, where that is allowed at all."""

_POLITE, _THANKS = r"^(?:%s)+", r"[,.!?–]\s*%s[\s.!?]*$"
_TOKEN = re.compile(r"(?<![\w.+−-])[-−+.]{1,3}(?=\d)|[^\W_]+(?:[.:/_-](?=[^\W_])[^\W_]+|,(?=\d)\d+)*[+#]*|\S")
_NEUTRAL = ".,;:!?\"'„“”»«‚‘…–—()[]{}¿¡"
"""What means nothing at the edge of a word, and may inside of one: `f(x)`."""
_LEADING = re.compile(rf"^(?!\.\d)[{re.escape(_NEUTRAL)}]+?(?=\.\d|[^{re.escape(_NEUTRAL)}]|$)")
_PARTS = re.compile(r"[-/_]")


@dataclass(frozen=True, slots=True)
class NormalisedQuestion:
    """What a question says: its main part in order, and the parts that may stand anywhere, each in its order."""

    main: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...]
    words: Counter[str]
    names: frozenset[str]


@cache
def _phrases(language: str) -> list[tuple[re.Pattern[str], str]]:
    """What can be said in two ways, and the one it is read as."""
    found = lang.recognised_mapping("cache.phrases", language)
    return [(re.compile(pattern, re.IGNORECASE), replacement) for pattern, replacement in found.items()]


@cache
def _kinds(language: str) -> tuple[tuple[Difference, frozenset[str]], ...]:
    """The words that make a difference of a kind, what weighs most first."""
    second = lang.recognised_words("negation.second_negators", language)
    denying = negators(language) - second | lang.recognised_words("cache.denying", language)
    asking, units, comparing = (
        lang.recognised_words(f"cache.{key}", language) for key in ("asking", "units", "comparing")
    )
    return (("negation", denying), ("question", asking), ("units", units), ("comparison", comparing))


def difference(asked: str, kept: str, *, other_forms: bool = False) -> Difference | None:
    """In what two questions differ, or nothing; with `other_forms` a few plain words may have another one."""
    one, other = normalise_question(asked), normalise_question(kept)
    if one.main == other.main and one.parts == other.parts:
        return None
    apart = [*(one.words - other.words).elements(), *(other.words - one.words).elements()]
    found = _most_important_difference(apart, one.names | other.names, question_language(asked))
    return None if other_forms and found == "words" and _differ_in_forms_only(one, other) else found


def _most_important_difference(apart: list[str], names: frozenset[str], language: str) -> Difference:
    if any(any(map(str.isdigit, word)) or unicodedata.category(word[0])[0] in "SP" for word in apart):
        return "numbers"
    kinds: tuple[tuple[Difference, frozenset[str]], ...] = (*_kinds(language), ("names", names))
    return next((kind for kind, known in kinds if known & set(apart)), "words" if apart else "order")


def _differ_in_forms_only(one: NormalisedQuestion, other: NormalisedQuestion) -> bool:
    """Whether what differs are forms of the same words, `employee` and `employees`, in the same places."""
    changed = (one.words - other.words).total()
    return 0 < changed <= MAX_CHANGED_FORMS and _stems(one) == _stems(other)


def _stems(gist: NormalisedQuestion) -> list[list[str]]:
    language = question_language(" ".join(gist.words))
    return [[stem(word, language) for word in part] for part in (gist.main, *gist.parts)]


@lru_cache(maxsize=1024)
def normalise_question(question: str) -> NormalisedQuestion:
    """A question without what means nothing."""
    text = unicodedata.normalize("NFC", question).replace("’", "'").strip()
    language = question_language(text)
    polite, thanks = (
        lang.regex(f"cache.{key}", language, template, re.IGNORECASE)
        for key, template in (("polite", _POLITE), ("thanks", _THANKS))
    )
    leads, resumes = (lang.recognised_words(f"cache.{key}", language) for key in ("prepositions", "resuming"))
    resumes |= lang.recognised_words("cache.asking", language)
    bare = thanks.sub("", polite.sub("", text))
    text = bare if any(map(str.isalnum, bare)) else text
    for pattern, replacement in _phrases(language):
        text = pattern.sub(replacement, text)
    written = _tokenize(text)
    main: list[str] = []
    parts: list[list[str]] = []
    here, names = main, set[str]()
    for number, word in enumerate(_normalise_word(one, language, shouted=text.isupper()) for one in written):
        if word == ",":
            here = main
        elif word in leads:
            here = [word]
            parts.append(here)
        elif not _is_article(number, written, language):
            if word in resumes and here[-1:] != here[:1]:  # `in which year` goes on, `in 1990 what` does not
                here = main
            here.append(word)
            names |= {word} if number and written[number][0].isupper() else set()
    counted = Counter(main) + Counter(word for part in parts for word in part)
    return NormalisedQuestion(tuple(main), tuple(sorted(map(tuple, parts))), counted, frozenset(names))


def _tokenize(text: str) -> list[str]:
    """The words as they are written, and every sign that may mean something; hyphens part letters, but not figures."""
    found: list[str] = []
    for chunk in text.split():
        bare = chunk.rstrip(_NEUTRAL)
        for match in _TOKEN.finditer(_LEADING.sub("", bare)):
            word = match.group()
            found += [word] if any(map(str.isdigit, word)) else [part for part in _PARTS.split(word) if part] or [word]
        if "," in chunk[len(bare) :]:
            found.append(",")
    return found


def _is_article(number: int, written: list[str], language: str) -> bool:
    """Whether a word is an article; `A` within a sentence, or `a` at its end, may be hepatitis A."""
    article, following = written[number], written[number + 1 : number + 2]
    as_article = article.islower() or number == 0 or article.lower() != "a"
    silent = article.lower() in lang.recognised_words("cache.silent", language)
    return silent and as_article and bool(following) and following[0].isalnum()


@cache
def _small_words(language: str) -> frozenset[str]:
    """Words that are other words in capitals."""
    return lang.recognised_words("terms.stop_words", language) | lang.recognised_words("cache.capitalised", language)


def _normalise_word(written: str, language: str, *, shouted: bool) -> str:
    """A word as it is compared: `US` is no `us`."""
    word = written.lower()
    if len(written) > 1 and written.isupper() and not shouted and word in _small_words(language):
        return written
    synonyms = lang.recognised_mapping("cache.synonyms", language)
    same = lang.recognised_mapping("cache.same_question_word", language)
    return same.get(word) or (synonyms.get(word, word) if written.islower() else word)
