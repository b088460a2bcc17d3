"""Whether the sentences found answer a question at all, and what it asks about that they do not mention."""

import re
from collections.abc import Mapping, Sequence
from math import exp

from pincite.core.query.fixed_answers import NOTHING_ABOUT, NOTHING_FOUND, quote_words
from pincite.extractive.question import Asked, Word
from pincite.extractive.score import Fit
from pincite.text.dictionary import dictionary
from pincite.text.terms import words

WEIGHTS: Mapping[str, float] = {
    "bias": -8.4, "meaning": 8.31, "near": 2.92, "names": -2.32, "german": 0.81, "fit": 0.49,
}  # fmt: skip
"""What speaks for an answer; `./run bench choosing` fits them, docs/evaluation.md says how."""
BY_WORDS: Mapping[str, float] = {"bias": -3.76, "near": 4.93, "names": -2.76, "german": 1.04, "fit": 0.3}
"""The same where there is no embedder to say what a sentence means."""
LEAST = 0.38
"""Below this likelihood that the question is covered, it is refused."""
LONG = 10
"""A word counts by its letters, up to this many, and a figure by as many: these say more about what is asked than short ones."""
THERE = 0.5
"""A word is mentioned where one so like it stands."""
MOST = 3
"""Words that are told to be missing."""

_NAME = re.compile(r"(?<=[\w,;:] )[\"'„“]?([^\W\d_a-zäöüß][\w-]*)|\b(\w*\d\w*)")
_NOUN = {
    "en": re.compile(r"\b(?:the|an?|of|which|what|for|about|my|our|your) ([^\W\d_]{3,})"),
    "de": re.compile(r"(?<=\w )([^\W\d_a-zäöüß][^\W\d_]{2,})"),
}
"""Words that are things: in German those with a capital, in English those after an article or the like."""


def likelihood(asked: Asked, found: Sequence[Fit], *, with_meaning: bool = True) -> float:
    """How likely it is that the sentences found, the best first, answer the question."""
    if not found:
        return 0.0
    weights = WEIGHTS if with_meaning else BY_WORDS
    measured = {"bias": 1.0, **evidence(asked, found)}
    return 1 / (1 + exp(-max(-60.0, min(60.0, sum(weight * measured[name] for name, weight in weights.items())))))


def evidence(asked: Asked, found: Sequence[Fit]) -> dict[str, float]:
    """What is measured: the nearest in meaning, how well the best sentence fits, and what its passage does not mention."""
    best = found[0].sentence
    near = best.around | best.above
    total = sum(map(_letters, asked.words)) or 1
    proper = named(asked.text, asked.language)
    names = [word for word in asked.words if word.text in proper]
    return {
        "meaning": max(fit.cosine for fit in found),
        "near": sum(_letters(word) * word.likeness(near) for word in asked.words) / total,
        "names": sum(word.likeness(near) < THERE for word in names) / len(names) if names else 0.0,
        "german": float(asked.language == "de"),
        "fit": found[0].score,
    }


def named(question: str, language: str) -> frozenset[str]:
    """The names and figures of a question, in lower case; in German a noun of everyday use is no name."""
    found = {word for match in _NAME.finditer(question) for word in words(match[1] or match[2])}
    if language != "de" or not found:
        return frozenset(found)
    everyday = dictionary("de").common
    return frozenset(name for name in found if name not in everyday)


def refusal(asked: Asked, found: Sequence[Fit]) -> str:
    """The sentence that says that there is no answer, and what nothing was found about."""
    unknown = missing(asked, found)
    about = NOTHING_ABOUT[asked.language].format(what=quote_words(unknown, asked.language)) if unknown else ""
    return f"{NOTHING_FOUND[asked.language]} {about}".rstrip()


def missing(asked: Asked, found: Sequence[Fit]) -> list[str]:
    """What the question names that stands in none of the passages found, as written; names and figures before nouns."""
    held = frozenset[str]().union(*(fit.sentence.around | fit.sentence.above for fit in found))
    absent = {word.text for word in asked.words if word.likeness(held) < THERE}
    proper = named(asked.text, asked.language)
    noun = _NOUN[asked.language]
    things = [match[1] for match in noun.finditer(asked.text) if match[1].lower() not in proper]
    names = [word for word in re.findall(r"[^\W_]+", asked.text) if word.lower() in proper]
    return [word for word in dict.fromkeys([*names, *things]) if word.lower() in absent][:MOST]


def _letters(word: Word) -> int:
    return LONG if any(char.isdigit() for char in word.text) else min(len(word.text), LONG)
