"""Names in a passage, by capitalisation and position. German nouns have capitals, too: single ones are left out."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from pincite.text import lang
from pincite.text.dictionary import dictionary
from pincite.text.sentences import Span, sentences
from pincite.text.terms import stop_words

MAX_NAME_WORDS = 7
_UPPER = r"[^\W\d_a-zß-öø-ÿœ]"
_WORD = rf"(?:St|Mt|Ft)\.|(?:{_UPPER}\.)+(?=[ \n]{_UPPER}|\w)|{_UPPER}[\w'’-]*(?:\.(?=\w))?[\w'’-]*"
_JOIN = r"(?:of the|of|de la|de|del|van der|van|von der|von|du|da|di|al|bin|ibn|&|am|an der|für)"
_NUMBER = r"(?:[ \n]\d{1,4}(?![\d.,:%\w])(?<!\s1[5-9]\d\d)(?<!\s20\d\d))?"
_BODY = "Ministry|Department|Institute|Office|Board|Committee|School|College|Museum|Society|Commission|Ministerium|Amt"
_NAME = re.compile(
    rf"(?:(?:{_WORD}) )*?(?:{_BODY}) (?:of|for|für) (?:the )?(?:{_WORD})(?:,? (?:{_WORD}))*,? (?:and|und) (?:{_WORD})(?: (?:{_WORD}))*"
    rf"|(?:{_WORD})(?:[ \n](?:{_JOIN}[ \n])?(?:{_WORD})|[ \n]of[ \n]\d{{4}}\b){{0,{MAX_NAME_WORDS - 1}}}{_NUMBER}"
)
_DEMONYM = re.compile(
    r"(?:\w{2,}(?:ian|ean|ese|ish|ican)|French|German|Greek|Swiss|Dutch|Israeli|Iraqi|Welsh|Czech|Turk|Thai|Arab)s?(?:-born|-American)?$"
)
_NO_DEMONYM = re.compile(
    r"(?:Brian|Christian|Adrian|Julian|Vivian|Lillian|Sebastian|Damian|Fabian|Florian|Maximilian|Gillian|Marian|Dorian|Kilian"
    r"|Jean|Sean|Dean|Ocean|Caribbean|Mediterranean|Indian|Parish|Fish|Cornish|Therese|Ian)s?$"
)
_LAW = re.compile(
    r"\b(?:ISO|DIN|EN|IEC|IEEE|RFC|ANSI|VDE)(?:[ /-](?:EN|ISO|IEC))*[ -]?\d[\d.:-]*\d\b|"
    r"\b(?:Regulation|Directive|Verordnung|Richtlinie) \((?:EU|EG|EC|EWG)\) (?:Nr\. |No\.? )?\d+/\d+|"
    r"§§? ?\d+[a-z]?(?: Abs\. ?\d+)? [A-ZÄÖÜ][A-Za-zÄÖÜäöü]{1,12}\b"
)
_HIDDEN = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|\]\([^)\n]*\)|<[^>\n]{1,200}>|https?://\S+|\S+@\S+|\bwww\.\S+", re.DOTALL
)
_CODE_CASE = re.compile(r"\w[A-ZÄÖÜ]")
_NOT_A_NAME = re.compile(r"^(?:[IVXLC]+|[A-Z]\.?|\d+)$")
_TRAILING = re.compile(r"(?:['’]s?|[.-])+$")


@dataclass(frozen=True, slots=True)
class Found:
    """A name in a passage: its words, its span, the span of its sentence, and whether it begins the sentence."""

    text: str
    start: int
    end: int
    sentence: Span
    opens: bool
    certain: bool


def visible_text(text: str) -> str:
    """A passage of the same length without code, addresses and the targets of links."""
    return _HIDDEN.sub(lambda match: "\0" * len(match.group()), text)


@cache
def _never(language: str) -> frozenset[str]:
    """Words with a capital that no name begins or ends with: stop words, months, days, forms of address."""
    months = (
        name.lower()
        for one in lang.recognised(language)
        for group in lang.sequence("dates.months", one)
        for name in group.split(",")
    )
    return (
        stop_words(language)
        | stop_words(lang.FALLBACK)
        | lang.recognised_words("dates.weekday_names", language)
        | lang.recognised_words("names.not_names", language)
        | lang.recognised_words("graph.address", language)
        | frozenset(months)
    )


@cache
def _common(language: str) -> frozenset[str]:
    """Words that have a capital because they begin a sentence."""
    return (
        _never(language)
        | lang.recognised_words("sentences.opening_words", language)
        | lang.recognised_words("questions.openers", language)
    )


@cache
def _cues(language: str) -> frozenset[str]:
    kinds = ("organization", "place", "event", "law", "project")
    return frozenset(word for kind in kinds for word in lang.recognised_words(f"graph.{kind}", language))


def names_in(text: str, language: str) -> Iterator[Found]:
    """The names of a passage in their order; those at the start of a sentence and single German words are uncertain."""
    shown = visible_text(text)
    for sentence in sentences(text):
        taken: list[Span] = []
        for match in _LAW.finditer(shown, *sentence):
            taken.append(match.span())
            yield Found(match.group(), *match.span(), sentence, opens=False, certain=True)
        for match in _NAME.finditer(shown, *sentence):
            if not any(start < match.end() and match.start() < end for start, end in taken):
                yield from _trimmed(text, match.start(), match.end(), sentence, language)


def _trimmed(text: str, start: int, end: int, sentence: Span, language: str) -> Iterator[Found]:
    """The name without common words at its ends; a name that is nothing but these is none."""
    words = [
        (match.group(), start + match.start(), start + match.end()) for match in re.finditer(r"\S+", text[start:end])
    ]
    lead = text[sentence[0] : start].strip(" \t\n\"'“”„»«(*_#>-–—•|0123456789.)")
    opens = not lead or lead[-1] in ".!?:"
    at_start = opens
    while words and _is_lead(words, opens, language):
        words, opens = words[1:], False
    while words and _is_tail(words, language):
        words = words[:-1]
    if not words:
        return
    first, last = words[0][1], words[-1][2]
    last -= len(text[first:last]) - len(_TRAILING.sub("", text[first:last]))
    name = text[first:last]
    if len(name) < 2 or _NOT_A_NAME.match(name) or not any(map(str.isupper, name)):
        return
    if not (len(words) == 1 and _is_demonym(name)):
        certain = _is_certain(name, [word for word, _, _ in words], opens, text[slice(*sentence)], language)
        yield Found(name, first, last, sentence, at_start, certain)


def _is_certain(name: str, words: Sequence[str], opens: bool, sentence: str, language: str) -> bool:
    """Whether nothing but a name explains the capitals: not the start of a sentence, a heading, or a German noun."""
    single, capitals = len(words) == 1, language in lang.flagged("nouns_capitalised")
    if single and name in _cues(language):
        return False
    if _CODE_CASE.search(name) or any(word in _cues(language) for word in words):
        return True
    if _is_heading(sentence):
        return False
    return not opens and not (single and capitals) if single or capitals else True


def _is_heading(sentence: str) -> bool:
    """Whether a sentence has capitals throughout, so that they tell nothing."""
    words = [word for word in re.findall(r"[^\W\d_]+", sentence) if len(word) > 2]
    return sentence.startswith("#") or all(word[0].isupper() for word in words)


def _is_lead(words: Sequence[tuple[str, int, int]], opens: bool, language: str) -> bool:
    """Whether the first word does not belong to the name: an opening word, a nationality, a title, a German noun."""
    word, cues = words[0][0].strip("'’"), _cues(language)
    lower = word.lower().strip(".")
    if lower in (_common(language) if opens or len(words) == 1 else _never(language)) or re.fullmatch(_JOIN, word):
        return True
    if _is_demonym(word):
        return not any(other in cues for other, _, _ in words[1:])
    if len(words) > 1 and lower in lang.recognised_words("graph.person_before", language):
        return word[-1] == "." or language in lang.flagged("nouns_capitalised")
    return len(words) > 2 and word not in cues and _is_german_noun(word, language)


def _is_tail(words: Sequence[tuple[str, int, int]], language: str) -> bool:
    word = words[-1][0].strip("'’")
    if word.lower() in _never(language) or re.fullmatch(_JOIN, word):
        return True
    return len(words) > 1 and bool(_NOUN_ENDING.search(word)) and _is_german_noun(word, language)


def _is_demonym(word: str) -> bool:
    return bool(_DEMONYM.match(word)) and not _NO_DEMONYM.match(word)


@lru_cache(maxsize=10_000)
def _is_german_noun(word: str, language: str) -> bool:
    """Whether a word with a capital is an ordinary noun: known to German, unknown to English, or put together."""
    if language not in lang.flagged("nouns_capitalised") or not word.isalpha():
        return False
    lower = word.lower()
    if _NOUN_ENDING.search(lower):
        return True
    return lower in dictionary(language) and lower not in dictionary(lang.FALLBACK)


_NOUN_ENDING = re.compile(
    r"(?:ungs?|ungen|heit|keit|schaft(?:en)?|tion(?:en)?|tät|nis|zeit|theorie|minister(?:in)?|präsident(?:in|en)?|mitglied(?:er)?|führer|herrschaft)$"
)


def certain_names(passages: Sequence[tuple[str, str]], title: str) -> list[list[Found]]:
    """The names of each passage (text, language) of a document, without what is more likely a common word.

    An uncertain name counts where the document uses it elsewhere as a certain one, or as a part of one, and never in
    lower case.
    """
    found = [list(names_in(text, language)) for text, language in passages]
    lower = _lower_words(text for text, _ in passages)
    sure = Counter(one.text for names in found for one in names if one.certain and one.text.lower() not in lower)
    known = set(sure) | {part for name in sure if " " in name for part in name.split()} | {title}
    known |= set(title.split()) if len(title.split()) < 4 else set()
    return [
        [
            one
            for one in names
            if one.text.lower() not in lower and (one.certain or one.text in known or _is_sure_pair(one, known))
        ]
        for names in found
    ]


def _is_sure_pair(one: Found, known: set[str]) -> bool:
    words = one.text.split()
    return len(words) > 1 and all(word in known or not word[0].isupper() for word in words)


def _lower_words(texts: Iterable[str]) -> frozenset[str]:
    """All words that a document writes in lower case."""
    return frozenset(word for text in texts for word in re.findall(r"\b[^\W\d_A-ZÄÖÜ][^\W\d_]*\b", text))
