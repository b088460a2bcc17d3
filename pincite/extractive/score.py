"""How well each sentence fits a question: a few plain measures, added up with fitted weights."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log

from pincite.extractive.answer_span import FITTING, fitting
from pincite.extractive.question import Asked, Word
from pincite.extractive.sentences import Sentence
from pincite.text.terms import STOP_WORDS, terms

LETTERS = 4
"""Letters in a row that are compared where words are not the same."""
HEAD = 60
"""Letters of a sentence within which it says what it is about."""
ABOVE = 0.5
"""How like a word of the question counts that stands in the title or a heading above the sentence."""

WEIGHTS: Mapping[str, float] = {
    "own": 5.24, "letters": 3.14, "like": 5.57, "before": 1.36, "referred": 2.22, "meaning": 2.8, "behind": -2.62,
    "place": -5.1, "language": 2.47, "lacks_kind": -2.04, "lacks_person": -1.42, "lacks_number": -1.96, "reason": 3.0,
    "defines": 3.0,
}  # fmt: skip
"""What each measure is worth; `./run bench choosing` fits them, docs/evaluation.md says how. The last two are set by hand:
what they tell apart is too rare in the questions that the others were fitted on."""

_WHY = re.compile(r"\b(why|reasons?|causes?|caused|warum|wieso|weshalb|weswegen|gr[uü]nde?|ursachen?)\b")
_BECAUSE = re.compile(
    r"\b(because|due to|owing to|reasons?|caus(?:es?|ed|ing)|so that|in order to|therefore|"
    r"weil|wegen|aufgrund|gr[uü]nde?|ursachen?|damit|sodass|denn|verursacht\w*|daher|deshalb)\b",
    re.IGNORECASE,
)
_IS = re.compile(
    r"\b(is|are|was|were|means|refers|denotes|stands for|ist|sind|war|waren|bezeichnet|bedeutet|steht für)\b"
)
_CALLED = re.compile(r"\b(called|named|known as|genannt|heißt|heisst|namens|bezeichnet als)\b")
_PERSON = re.compile(r"(?<![\w'’.-])[A-ZÄÖÜ][\w'’.-]++(?: (?:von|van|de|der|of|the|da|di|[A-Z]\.))*+ [A-ZÄÖÜ][\w'’-]+")


@dataclass(frozen=True, slots=True)
class Fit:
    """A sentence and how well it fits: its cosine to the question, its measures, and what they come to."""

    sentence: Sentence
    cosine: float
    measures: Mapping[str, float]
    score: float

    @classmethod
    def of(cls, sentence: Sentence, cosine: float, measures: Mapping[str, float]) -> "Fit":
        """The sentence with the sum of its measures by their weights."""
        return cls(sentence, cosine, measures, sum(WEIGHTS[name] * value for name, value in measures.items()))


def fits(asked: Asked, found: Sequence[Sentence], cosines: Sequence[float]) -> list[Fit]:
    """Every sentence with its measures, the best first."""
    letters = _letters(asked, found)
    best = max((sentence.relevance for sentence in found), default=0.0)
    made = [
        Fit.of(sentence, cosine, {**_words(asked, sentence), **_rest(asked, sentence, best), "letters": share, "meaning": cosine})
        for sentence, cosine, share in zip(found, cosines, letters, strict=True)
    ]  # fmt: skip
    return sorted(made, key=lambda fit: (-fit.score, fit.sentence.source, fit.sentence.start))


def by_words(asked: Asked, found: Sequence[Sentence]) -> list[Sentence]:
    """The sentences in the order of the words they share with the question, the most first."""
    shares = shared(asked, found)
    return [found[n] for n in sorted(range(len(found)), key=lambda n: -shares[n] - _LITTLE * found[n].relevance)]


def shared(asked: Asked, found: Sequence[Sentence]) -> list[float]:
    """How much of the question each sentence holds."""
    total = asked.weight
    return [sum(word.weight for word in asked.words if word.in_(one.held)) / total for one in found]


_LITTLE = 0.1
"""Relevance decides only between sentences that share about as much."""


def _words(asked: Asked, sentence: Sentence) -> dict[str, float]:
    """How much of the question stands in the sentence, or right before it."""
    own = like = before = 0.0
    for word in asked.words:
        if word.in_(sentence.held):
            own += word.weight
            continue
        alike = max(word.likeness(sentence.held), ABOVE if word.in_(sentence.above) else 0.0)
        like += word.weight * alike
        if word.in_(sentence.before):
            before += word.weight * (1 - alike)
    total = asked.weight
    return {
        "own": own / total, "like": like / total, "before": before / total,
        "referred": before / total if sentence.refers else 0.0,
    }  # fmt: skip


def _rest(asked: Asked, sentence: Sentence, best: float) -> dict[str, float]:
    """What the source is worth, and what of the kind the question wants the sentence lacks."""
    want = asked.wanted.want
    known = want in FITTING and not fitting(want, sentence.text, sentence.language, asked.forms)
    alone = want == "person" and not _names_somebody(sentence, asked.forms)
    held = sentence.around | sentence.above
    return {
        "behind": best - sentence.relevance,
        "place": min(sentence.source - 1, 9) / 10,
        "language": float(sentence.language == asked.language),
        "lacks_kind": float(known),
        "defines": float(asked.wanted.form == "definition" and _defines(asked, sentence)),
        "reason": float(bool(_WHY.search(asked.text.lower()) and _BECAUSE.search(sentence.text))),
        "lacks_person": float(alone),
        "lacks_number": float(any(not word.in_(held) for word in asked.numbers)),
    }


def _defines(asked: Asked, sentence: Sentence) -> bool:
    """Whether the sentence begins by saying what the thing asked about is, or says that something is called so."""
    verb, named = _IS.search(sentence.text), _CALLED.search(sentence.text)
    head = terms(sentence.text[: verb.start()], sentence.language) if verb and verb.start() <= HEAD else []
    tail = terms(sentence.text[named.end() : named.end() + HEAD], sentence.language) if named else []
    begins = head[: len(asked.words)] if len(head) <= len(asked.words) + 1 else []
    return any(
        all(word.likeness(frozenset(part)) > 0.5 for word in asked.words) for part in (begins, tail[: len(asked.words)])
    )


def _names_somebody(sentence: Sentence, asked: frozenset[str]) -> bool:
    """Whether two capitals in a row stand there that the question does not have."""
    stop = STOP_WORDS.get(sentence.language, frozenset())
    return any(
        asked.isdisjoint(terms(match.group(), sentence.language))
        for match in _PERSON.finditer(sentence.text)
        if match.start() or match.group().split()[0].lower() not in stop
    )


def _letters(asked: Asked, found: Sequence[Sentence]) -> list[float]:
    """The share of the question's letters-in-a-row that each sentence holds, rare ones counting more."""
    held = [frozenset[str]().union(*map(_grams, sentence.held)) for sentence in found]
    wanted = frozenset[str]().union(*(_of(word) for word in asked.words))
    seen = Counter(gram for grams in held for gram in grams & wanted)
    worth = {gram: log(1 + (len(found) - seen[gram] + 0.5) / (seen[gram] + 0.5)) for gram in wanted}
    total = sum(worth.values()) or 1.0
    return [sum(worth[gram] for gram in grams & wanted) / total for grams in held]


def _of(word: Word) -> frozenset[str]:
    return frozenset[str]().union(*map(_grams, word.forms))


@lru_cache(maxsize=20_000)
def _grams(word: str) -> frozenset[str]:
    begun = f"^{word}"
    return frozenset(begun[n : n + LETTERS] for n in range(max(1, len(begun) - LETTERS + 1)))
