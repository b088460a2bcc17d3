"""Deterministic claims about known sentences, true and false, as a model might write them about its sources.

True claims repeat a sentence, shorten it, write a number differently, or use the words of the question. False claims
have another number, another name, or a negation.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal

from pincite.text.sentences import sentences

Kind = Literal[
    "literal", "shortened", "rewritten number", "reworded", "wrong number", "swapped name", "mixed up", "negated",
    "wrong source", "invented source", "uncited", "uncited and wrong",
]  # fmt: skip
TRUE: frozenset[Kind] = frozenset({"literal", "shortened", "rewritten number", "reworded", "uncited"})

_NUMBER = re.compile(r"(?<![\w.,:/-])\d+(?:[.,]\d+)*(?![\w:/-]|[.,]\d)")
_MONTHS = {
    "en": "January February March April May June July August September October November December".split(),
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split(),
}
_WORDS = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve".split(),
    "de": "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split(),
}
_VERB = {
    "en": re.compile(r"\b(?:is|are|was|were|has|have|had|can|could|will|would|must|may|should)\b(?! not)"),
    "de": re.compile(
        r"\b(?:ist|sind|war|waren|hat|haben|hatte|hatten|wurde|wurden|wird|werden|kann|können|konnte|muss|müssen|darf|dürfen|soll)\b(?! nicht)"
    ),
}
_NOT = {"en": "not", "de": "nicht"}
_DENIES = re.compile(r"\b(?:not|no|never|nicht|kein\w*|nie|niemand|nichts|ohne|without)\b", re.IGNORECASE)
_SUBJECT = {
    "en": re.compile(
        r"(?:Who|What|Which (?:[\w'-]+ ){1,4}?(?=[a-z]+ed\b|is\b|was\b|were\b|are\b|has\b|had\b))\s*(?!did\b|do\b|does\b|can\b|could\b|would\b)"
    ),
    "de": re.compile(r"(?:Wer|Was|Wie viele?|Wann|Wo|Wohin|Woher|In welchem Jahr|Welche[rsnm]? [\w-]+)\s+"),
}
"""What a question begins with that its answer can stand in the place of."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A question, the passage that answers it, and the answer as it stands there."""

    question: str
    passage: str
    answer: str
    language: str
    document: str


@dataclass(frozen=True, slots=True)
class Claim:
    """What a model says, what became of it, and whether its passage bears it out."""

    fact: Fact
    kind: Kind
    text: str

    @property
    def true(self) -> bool:
        """Whether the passage of its fact supports it."""
        return self.kind in TRUE


def claims_about(fact: Fact, others: Sequence[Fact], chance: Random) -> Iterator[Claim]:
    """Every claim that can be made about a fact; `others` lend their names."""
    sentence = sentence_of(fact)
    if sentence is None:
        return
    yield Claim(fact, "literal", sentence)
    reworded = _reworded(fact)
    worded = reworded if reworded and chance.random() < 0.5 else sentence
    makers: Mapping[Kind, Callable[[], str | None]] = {
        "shortened": lambda: _shortened(sentence, fact.answer),
        "rewritten number": lambda: _rewritten(sentence, fact.language),
        "reworded": lambda: reworded,
        "wrong number": lambda: _wrong_number(worded, chance) or _wrong_number(sentence, chance),
        "swapped name": lambda: _swapped(worded, fact, others, chance),
        "mixed up": lambda: _mixed_up(fact, others, chance),
        "negated": lambda: _negated(sentence, fact.language),
        "wrong source": lambda: worded,
        "invented source": lambda: sentence,
        "uncited": lambda: sentence,
        "uncited and wrong": lambda: _wrong_number(sentence, chance),
    }
    for kind, make in makers.items():
        text = make()
        if text:
            yield Claim(fact, kind, text)


def sentence_of(fact: Fact) -> str | None:
    """The sentence of a passage that holds the answer; None for what is no sentence."""
    for start, end in sentences(fact.passage):
        text = " ".join(fact.passage[start:end].split())
        if fact.answer in text and not text.startswith("|") and 5 <= len(text.split()) <= 45 and "?" not in text:
            return text.replace("**", "").replace("`", "")
    return None


def _shortened(sentence: str, answer: str) -> str | None:
    """The first clause, where that holds the answer."""
    head, comma, _ = sentence.partition(", ")
    return f"{head}." if comma and answer in head and len(head.split()) >= 5 else None


def _rewritten(sentence: str, language: str) -> str | None:
    """A number in words, with another mark between its thousands, or a date in figures."""
    months = "|".join(_MONTHS[language])
    date = re.search(rf"\b(\d{{1,2}})\.? ({months}) (\d{{4}})\b", sentence)
    if date:
        month = _MONTHS[language].index(date[2]) + 1
        return sentence.replace(date.group(), f"{date[3]}-{month:02d}-{int(date[1]):02d}")
    for match in _NUMBER.finditer(sentence):
        if re.fullmatch(r"\d{1,3}[.,]\d{3}", match.group()):
            return sentence[: match.start()] + re.sub(r"[.,]", "", match.group()) + sentence[match.end() :]
        if (
            re.fullmatch(r"\d{1,2}", match.group())
            and 2 <= int(match.group()) <= 12
            and sentence[match.end() : match.end() + 1] == " "
        ):
            return sentence[: match.start()] + _WORDS[language][int(match.group())] + sentence[match.end() :]
    return sentence.replace("%", " percent" if language == "en" else " Prozent") if "%" in sentence else None


def _reworded(fact: Fact) -> str | None:
    """The question with the answer in the place of what was asked for: the words are the asker's, not the passage's."""
    asked = _SUBJECT[fact.language].match(fact.question)
    rest = fact.question[asked.end() :].rstrip("? ") if asked else ""
    if len(rest.split()) < 3:
        return None
    return f"{fact.answer[0].upper()}{fact.answer[1:]} {rest}."


def _wrong_number(sentence: str, chance: Random) -> str | None:
    """One number is another: as long, and not far away."""
    found = list(_NUMBER.finditer(sentence))
    if not found:
        return None
    match = chance.choice(found)
    written = match.group()
    digits = [at for at, char in enumerate(written) if char.isdigit()]
    at = digits[min(1, len(digits) - 1)] if len(digits) > 1 else digits[0]
    other = (
        str((int(written[at]) + chance.randint(1, 8)) % 10)
        if at
        else str((int(written[at]) + chance.randint(1, 7) - 1) % 9 + 1)
    )
    changed = written[:at] + other + written[at + 1 :]
    return sentence[: match.start()] + changed + sentence[match.end() :] if changed != written else None


def _swapped(sentence: str, fact: Fact, others: Sequence[Fact], chance: Random) -> str | None:
    """The answer, where it is a name, is another name."""
    if not is_name(fact.answer) or fact.answer not in sentence:
        return None
    names = sorted(
        {other.answer for other in others if is_name(other.answer) and other.language == fact.language} - {fact.answer}
    )
    names = [name for name in names if name not in fact.passage and len(name.split()) == len(fact.answer.split())]
    return sentence.replace(fact.answer, chance.choice(names)) if names else None


def _mixed_up(fact: Fact, others: Sequence[Fact], chance: Random) -> str | None:
    """The answer to another question about the same passage, told as if it were the answer to this one."""
    same = [other for other in others if other.passage == fact.passage and _sort(other.answer) == _sort(fact.answer)]
    answers = sorted(
        {other.answer for other in same if other.answer not in fact.answer and fact.answer not in other.answer}
    )
    answers = [answer for answer in answers if answer not in fact.question]
    return _reworded(replace(fact, answer=chance.choice(answers))) if answers else None


def _sort(answer: str) -> str:
    """What an answer is: a number, a name, or other words."""
    if any(map(str.isdigit, answer)):
        return "number"
    return "name" if all(word[0].isupper() for word in answer.split()) else "words"


def is_name(answer: str) -> bool:
    """Whether an answer is a name of two words and more, or of none that are plain."""
    words = answer.split()
    return 2 <= len(words) <= 3 and all(word[0].isupper() and word.isalpha() for word in words)


def _negated(sentence: str, language: str) -> str | None:
    """The first verb that can be is denied; what denies already is left alone."""
    verb = None if _DENIES.search(sentence) else _VERB[language].search(sentence)
    return f"{sentence[: verb.end()]} {_NOT[language]}{sentence[verb.end() :]}" if verb else None
