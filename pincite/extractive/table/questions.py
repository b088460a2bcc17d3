"""What a question asks of a table: a cell, rows, or a value computed from a column."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from pincite.core.query.prompt import Operation
from pincite.text import lang
from pincite.text.answer_type import AnswerForm
from pincite.text.quantities import months_of
from pincite.text.terms import stem, stop_words

Request = Operation | Literal["cell", "rows"]
"""What is asked for: a computed value, one cell, or all rows that fit."""
NOT_ASKED: frozenset[AnswerForm] = frozenset({"yes_no", "steps"})
"""Forms of answers that no table gives by itself."""
MIN_PREFIXED_CHARS = 4
"""Letters that follow the first part of a compound."""
MIN_PART_CHARS = 5
"""Letters of a word that counts as part of a compound."""
MIN_SHARED_PREFIX = 0.75
"""Share of the shorter of two similar words that they have in common at the beginning."""

_WORD = re.compile(r"[^\W_]+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_LETTER_HYPHEN = re.compile(r"(?<=\b[a-z])-(?=[a-z]{2})")
_CAPITALS = re.compile(r"\b[A-ZÄÖÜ]{2,}\b|(?<=\w )[A-HJ-Z]\b(?!['’.])")
"""Abbreviations and letters that name something: `IT` is no stop word, nor is `B` in `hall B`."""
_QUARTER = re.compile(r"q[1-4]")
_UMLAUT = re.compile(r"([aou])e")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a question or a cell, in lower case, with its index terms; `stop` means that it carries no meaning."""

    text: str
    forms: frozenset[str]
    stop: bool = False

    def is_same(self, other: "Word") -> bool:
        """Whether both are forms of one word."""
        return not self.forms.isdisjoint(other.forms)

    def is_similar(self, other: "Word") -> bool:
        """Whether one is a part of the other, as in compounds, or both begin alike."""
        return any(_alike(one, two) for one in self.forms for two in other.forms)


@dataclass(frozen=True, slots=True)
class TableQuestion:
    """A question as it is compared with tables.

    `words` are its words without those that name the operation. `concept` is what the operation compares or the question
    word asks for, empty where only the column's name can tell. `counted` is the place of the noun after `how many`. `lists`
    means that several rows can answer, and `compares` that several rows must be named. `hint` is what the question word of a
    computed value asks for. `denied` are the places of the words that rows must lack: `no gluten`.
    """

    request: Request
    language: str
    words: tuple[Word, ...]
    concept: str = ""
    counted: int | None = None
    grouped_by: tuple[Word, ...] = ()
    lists: bool = False
    compares: bool = False
    hint: str = ""
    denied: frozenset[int] = frozenset()

    @property
    def is_computed(self) -> bool:
        """Whether it asks for a computed value."""
        return self.request not in ("cell", "rows")

    @property
    def asks_worth(self) -> bool:
        """Whether it is about money, which a number of pieces does not tell."""
        words = (lang.recognised_words(key, self.language) for key in ("tables.worth", "tables.spending"))
        return any(word.text in money for money in words for word in self.words)

    @property
    def needs_all_rows(self) -> bool:
        """Whether the complete table may be needed."""
        return self.request != "cell" or self.lists


def read_question(text: str, language: str, form: AnswerForm) -> TableQuestion | None:
    """What a question asks of a table; None where a table alone cannot answer it."""
    if form in NOT_ASKED:
        return None
    lower = _lower(text)
    found = _operation(lower, language)
    if found is None or (form == "comparison" and found[0] != "cell"):
        return None
    request, concept, spans = found
    lists = request == "cell" and (form == "list" or bool(_pattern("tables.which", language).search(lower)))
    denials = [match.span() for match in _pattern("tables.denials", language).finditer(_blanked(lower, spans))]
    uncomputed = _pattern("tables.not_computed", language).search(_blanked(lower, [*spans, *denials]))
    if uncomputed and (request != "cell" or lists):
        return None
    if request in ("highest", "lowest") and _pattern("tables.ranks", language).search(lower):
        return None
    hint, asked_spans = _asked_concept(_blanked(lower, spans), language)
    spans = [*spans, *asked_spans]
    concept = hint if request == "cell" else concept
    rest = _with_short_quarters(_blanked(lower, spans), language)
    matches = list(_WORD.finditer(rest))
    capitals = frozenset() if text.isupper() else frozenset(one.lower() for one in _CAPITALS.findall(text))
    words = tuple(_word(match.group(), language) for match in matches)
    words = tuple(replace(word, stop=False) if word.text in capitals else word for word in words)
    after = min((end for _, end in found[2]), default=0)
    generic = lang.recognised_words("tables.generic", language)
    nouns = [n for n, one in enumerate(matches) if one.start() >= after and not words[n].stop]
    counted = next((n for n in nouns if words[n].text not in generic), None)
    ends = [match.end() for match in _pattern("tables.grouping", language).finditer(rest)]
    denied = (next((n for n, one in enumerate(matches) if one.start() >= end), None) for _, end in denials)
    grouped = [
        next((word for word, one in zip(words, matches, strict=True) if one.start() > end), None) for end in ends
    ]
    return TableQuestion(
        request,
        language,
        words,
        concept,
        counted if request == "count" else None,
        tuple(word for word in grouped if word),
        lists,
        form == "comparison",
        hint,
        frozenset(place for place in denied if place is not None and (request != "cell" or lists)),
    )


@lru_cache(maxsize=20_000)
def words_of(text: str, language: str) -> tuple[Word, ...]:
    """The words of a cell or a heading, for a question in this language."""
    return tuple(_word(match, language) for match in _WORD.findall(_lower(text)))


def is_extreme_by_name(name: str, operation: Operation, language: str) -> bool:
    """Whether the name of a column has a superlative itself: `Max. load`."""
    return _longest(f"tables.{operation}", name.lower(), language) is not None


def spelling_in(cell: str, word: Word) -> str:
    """A word of the question as a cell writes it."""
    found = (match for match in _WORD.findall(cell) if stem(match.lower(), "") == word.text)
    return next(found, word.text)


def year_of(word: Word) -> int:
    """The year that a word of the question names; 0 where it names none."""
    return int(word.text) if _YEAR.fullmatch(word.text) else 0


def quarter_of(word: Word) -> int:
    """The quarter that a word of the question names; 0 where it names none."""
    return int(word.text[1]) if _QUARTER.fullmatch(word.text) else 0


def month_of(word: Word, language: str) -> int:
    """The month that a word of the question names; 0 where it names none."""
    return next((months[word.text] for one in lang.recognised(language) if word.text in (months := months_of(one))), 0)


def concept_words(concept: str, language: str) -> list[Word]:
    """The words with which columns of this kind are named, the plainest first."""
    by_language = [lang.sequence(f"tables.{concept}", one) for one in lang.recognised(language)]
    longest = max(map(len, by_language), default=0)
    ordered = (words[place] for place in range(longest) for words in by_language if place < len(words))
    return [_word(word, language) for word in ordered]


# --- parts of a question ------------------------------------------------------------------------------------

Span = tuple[int, int]


def _operation(text: str, language: str) -> tuple[Request, str, list[Span]] | None:
    """The operation, what it compares, and where its words are; None where there are two."""
    spans: dict[Request, list[Span]] = {}
    for operation in ("count", "mean", "sum"):
        found = [match.span() for match in _pattern(f"tables.{operation}", language).finditer(text)]
        found += _prefixes(operation, text, language)
        if found:
            spans[operation] = found
    concepts = dict[str, str]()
    for operation in ("highest", "lowest"):
        best = _longest(f"tables.{operation}", text, language)
        if best:
            spans[operation], concepts[operation] = [best[1]], best[0]  # type: ignore[index]
    everything = [span for one in spans.values() for span in one]
    names = set(spans)
    if names <= {"count", "sum"} and "count" in names:
        return "count", "", everything
    if names == {"mean", "count"}:
        return "mean", "", everything
    if len(names) > 1:
        return None
    [name] = names or {"cell"}
    concept = concepts.get(name, "")
    return name, "" if concept == "any" else concept, everything


def _prefixes(operation: str, text: str, language: str) -> list[Span]:
    """The first parts of compounds that name the operation."""
    named = [part for part, one in lang.recognised_mapping("tables.prefixes", language).items() if one == operation]
    pattern = rf"(?<!\w)(?:{'|'.join(named)})(?=\w{{{MIN_PREFIXED_CHARS}}})"
    return [match.span() for match in re.finditer(pattern, text)] if named else []


def _longest(key: str, text: str, language: str) -> tuple[str, Span] | None:
    """The longest match of a table of patterns, with its concept."""
    found = [
        (concept, match.span())
        for pattern, concept in lang.recognised_mapping(key, language).items()
        for match in re.finditer(rf"(?<!\w)(?:{pattern})(?!\w)", text)
    ]
    return max(found, key=lambda one: one[1][1] - one[1][0], default=None)


def _asked_concept(text: str, language: str) -> tuple[str, list[Span]]:
    best = _longest("tables.asked", text, language)
    return (best[0], [best[1]]) if best else ("", [])


def _with_short_quarters(text: str, language: str) -> str:
    """A question with its quarters written as `q2`, at the same length."""
    for one in lang.recognised(language):
        for number, pattern in enumerate(lang.patterns("tables.quarters", one), start=1):
            match = re.search(rf"(?<!\w)(?:{pattern})(?!\w)", text)
            if match:
                text = f"{text[: match.start()]}{f'q{number}':<{len(match.group())}}{text[match.end() :]}"
    return text


def _lower(text: str) -> str:
    """A text in lower case, without the hyphen after a single letter: `e-mail` is the same word as `email`."""
    return _LETTER_HYPHEN.sub("", text.lower())


def _pattern(key: str, language: str) -> re.Pattern[str]:
    return lang.regex(key, language, r"(?<!\w)%s(?!\w)")


def _blanked(text: str, spans: Iterable[Span]) -> str:
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


@lru_cache(maxsize=20_000)
def _word(text: str, language: str) -> Word:
    languages = lang.recognised(language)
    forms = {text, *(stem(text, one) for one in languages)}
    stop = len(text) == 1 or any(text in stop_words(one) for one in {language, *languages[:1]})
    return Word(text, frozenset(forms | {_UMLAUT.sub(r"\1", form) for form in forms}), stop and not text.isdigit())


def _alike(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if any(map(str.isdigit, short)) or len(short) < MIN_PREFIXED_CHARS:
        return False
    if len(short) >= MIN_PART_CHARS and short in long:
        return True
    shared = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return shared >= max(MIN_PREFIXED_CHARS, MIN_SHARED_PREFIX * len(short))
