"""Names in a passage, by capitalisation and position. German nouns have capitals, too: single ones are left out."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from pincite.ingest.graph.name_parts import Word, cues, is_german_noun, is_noun_tail, is_role, name_parts, places
from pincite.text import lang
from pincite.text.dictionary import dictionary
from pincite.text.sentences import Span, sentences
from pincite.text.terms import stop_words

MAX_NAME_WORDS = 7
SHORT_CAPITALS = 4
"""Letters of an abbreviation at most that is also a common word."""
_UPPER = r"[^\W\d_a-zß-öø-ÿœ]"
_WORD = rf"(?:St|Mt|Ft)\.|(?:al|el|ad|ar|as|ash)-{_UPPER}[\w'’-]*+|(?:{_UPPER}\.)+(?=[ \n]{_UPPER}|\w)|{_UPPER}[\w'’-]*+(?:\.[\w'’-]++)?"
_JOIN = r"(?:of the|of|de la|de|del|van der|van|von der|von|du|da|di|al|bin|ibn|&|am|an der|für)"
_NUMBER = r"(?:[ \n]\d{1,4}(?![\d.,:%\w])(?<!\s1[5-9]\d\d)(?<!\s20\d\d))?"
_BODY = "Ministry|Department|Institute|Office|Board|Committee|School|College|Museum|Society|Commission|Ministerium|Amt"
_NAME = re.compile(
    rf"(?:(?:{_WORD}) ){{0,{MAX_NAME_WORDS}}}?(?:{_BODY}) (?:of|for|für) (?:the )?(?:{_WORD})(?:,? (?:{_WORD}))*,? (?:and|und) (?:{_WORD})(?: (?:{_WORD}))*"
    rf"|(?:{_WORD})(?:[ \n](?:{_JOIN}[ \n])?(?:{_WORD})|[ \n]of[ \n]\d{{4}}\b){{0,{MAX_NAME_WORDS - 1}}}{_NUMBER}"
)
_DEMONYM = re.compile(
    r"(?:\w{2,}(?:ian|ean|ese|ish|ican)|French|German|Greek|Swiss|Dutch|Israeli|Iraqi|Welsh|Czech|Turk|Thai|Arab|Kenyan"
    r"|Libyan|Muslim|Protestant|Catholic|Islamic|Jewish)s?(?:-born|-American|-Canadian)?$"
)
_NO_DEMONYM = re.compile(
    r"(?:Brian|Christian|Adrian|Julian|Vivian|Lillian|Sebastian|Damian|Fabian|Florian|Maximilian|Gillian|Marian|Dorian|Kilian"
    r"|Jean|Sean|Dean|Ocean|Caribbean|Mediterranean|Parish|Fish|Cornish|Therese|Ian)s?$"
)
_LAW = re.compile(
    r"\b(?:ISO|DIN|EN|IEC|IEEE|RFC|ANSI|VDE)(?:[ /-](?:EN|ISO|IEC))*[ -]?\d[\d.:-]*\d\b|"
    r"\b(?:Regulation|Directive|Verordnung|Richtlinie) \((?:EU|EG|EC|EWG)\) (?:Nr\. |No\.? )?\d+/\d+|"
    r"§§? ?\d+[a-z]?(?: Abs\. ?\d+)? [A-ZÄÖÜ][a-zäöü]{0,6}[A-ZÄÖÜ][A-Za-zÄÖÜäöü]{0,10}\b"
)
_HIDDEN = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|\]\([^)\n]*\)|<[^>\n]{1,200}>|https?://\S+|\S+@\S+|\bwww\.\S+|\bz\. ?B\.", re.DOTALL
)
_DIRECTIONS = ("North", "South", "East", "West")
_UNIT = re.compile(r"\d[ °][^\W\d_]\.$")
_GOES_ON = re.compile(rf" {_UPPER}")
_GOES_BEFORE = re.compile(rf"{_UPPER}[\w.'’-]* $")
_CODE_CASE = re.compile(r"\w[A-ZÄÖÜ]")
_NOT_A_NAME = re.compile(
    r"^(?:[IVXLC]+|[A-Z]\.?|\d+|[KMGT]i?B|TVs?|CDs?|DVDs?|BP|AD|BC|AM|PM|BCE|CE|MPH|[A-G]-flat|OK|FAQs?|PDFs?|IDs?|[kMGT]Hz|APIs?"
    r"|SDKs?|URLs?|EPs?|LPs?|EUR|USD|GBP|CHF|Younger|Elder)$"
)
_QUOTED = re.compile(r"(?<=[\"“„»])(?:\d+ )?[^\W\d_a-zß-öø-ÿ][^\"“”„»«\n]{2,60}(?=[\"”“«])")
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


def names_in(text: str, language: str, title: str = "") -> Iterator[Found]:
    """The names of a passage in their order; those at the start of a sentence and single German words are uncertain.

    The title of the document and what stands in quotation marks with capitals throughout are names as they are.
    """
    shown = visible_text(text)
    for sentence in sentences(text):
        taken: list[Span] = []
        for match in _fixed_names(shown, sentence, title, language):
            if not any(start < match.end() and match.start() < end for start, end in taken):
                taken.append(match.span())
                yield Found(match.group(), *match.span(), sentence, _opens(text, match.start(), sentence), certain=True)
        for match in _NAME.finditer(shown, *sentence):
            if not any(start < match.end() and match.start() < end for start, end in taken):
                yield from _found(text, match.start(), match.end(), sentence, language)


def _fixed_names(shown: str, sentence: Span, title: str, language: str) -> Iterator[re.Match[str]]:
    if len(title.split()) > 1:
        for match in re.compile(rf"(?<!\w){re.escape(title)}(?!\w)").finditer(shown, *sentence):
            if not _GOES_ON.match(shown, match.end()) and not _GOES_BEFORE.search(shown, sentence[0], match.start()):
                yield match
    yield from _LAW.finditer(shown, *sentence)
    for match in () if language in lang.flagged("nouns_capitalised") else _QUOTED.finditer(shown, *sentence):
        words = re.findall(r"[^\W\d_]+", match.group())
        if len(words) > 1 and all(word[0].isupper() for word in words if len(word) > 3) and words[-1][0].isupper():
            yield match


def _opens(text: str, start: int, sentence: Span) -> bool:
    """Whether a place begins its sentence, but for marks and numbers."""
    lead = text[sentence[0] : start].strip(" \t\n\"'“”„»«(*_#>-–—•|0123456789.)")
    return not lead or lead[-1] in ".!?:" or text[start - 2 : start] == "  "


def _found(text: str, start: int, end: int, sentence: Span, language: str) -> Iterator[Found]:
    """The names in a run of words with capitals."""
    words = [
        (match.group(), start + match.start(), start + match.end()) for match in re.finditer(r"\S+", text[start:end])
    ]
    opens = _opens(text, start, sentence)
    if words and _UNIT.search(text, max(0, words[0][1] - 2), words[0][2]):  # `at 1.42 W. Yesterday`
        words, opens = words[1:], True
    while words and _is_lead(words, opens, language):
        words, opens = words[1:], False
    for part, introduced in name_parts(words, language):
        first = part[0] is words[0]
        yield from _trimmed(text, part, sentence, language, opens=opens and first, introduced=introduced)


def _trimmed(
    text: str, words: Sequence[Word], sentence: Span, language: str, *, opens: bool, introduced: bool
) -> Iterator[Found]:
    """The name without common words at its ends; a name that is nothing but these is none."""
    at_start = _opens(text, words[0][1], sentence)
    while words and _is_lead(words, opens, language):
        words, opens = words[1:], False
    while words and _is_tail(words, language):
        words = words[:-1]
    if not words or is_role(words, language):
        return
    first, last = words[0][1], words[-1][2]
    last -= len(text[first:last]) - len(_TRAILING.sub("", text[first:last]))
    name = text[first:last]
    if len(name) < 2 or _NOT_A_NAME.match(name) or not any(map(str.isupper, name)) or _is_described(name):
        return
    if name.isupper() and len(name) > SHORT_CAPITALS and name.lower() in dictionary(lang.FALLBACK).common:
        return  # an emphasis
    if not all(_is_demonym(word) or word in _DIRECTIONS for word, _, _ in words):
        certain = introduced and len(words) == 1 and name[-1] != "s" and not is_german_noun(name, language)
        certain |= _is_certain(name, [word for word, _, _ in words], opens, text[slice(*sentence)], language)
        yield Found(name, first, last, sentence, at_start, certain)


def _is_described(name: str) -> bool:
    """Whether a word with a hyphen describes something: `Chinese-made`, `B-flat`."""
    last = name.rpartition("-")[2]
    return "-" in name and " " not in name and last.islower() and len(last) > 3 and last in dictionary(lang.FALLBACK)


def _is_certain(name: str, words: Sequence[str], opens: bool, sentence: str, language: str) -> bool:
    """Whether nothing but a name explains the capitals: not the start of a sentence, a heading, or a German noun."""
    single, capitals = len(words) == 1, language in lang.flagged("nouns_capitalised")
    if single and (name in cues(language) or is_german_noun(name, language)):
        return False
    if _CODE_CASE.search(name) or name in places() or any(word in cues(language) for word in words):
        return True
    if _is_heading(sentence):
        return False
    return not opens and not (single and capitals) if single or capitals else True


def _is_heading(sentence: str) -> bool:
    """Whether a sentence has capitals throughout, so that they tell nothing."""
    words = [word for word in re.findall(r"[^\W\d_]+", sentence) if len(word) > 2]
    return sentence.startswith("#") or all(word[0].isupper() for word in words)


def _is_lead(words: Sequence[Word], opens: bool, language: str) -> bool:
    """Whether the first word does not belong to the name: an opening word, a nationality, a title."""
    word = words[0][0].strip("'’")
    lower = word.lower().strip(".")
    if lower in (_common(language) if opens or len(words) == 1 else _never(language)) or re.fullmatch(_JOIN, word):
        return True
    if _is_demonym(word):
        return not _is_of_country(words[1:], language)
    if len(words) > 1 and lower in lang.recognised_words("graph.person_before", language):
        noun = language in lang.flagged("nouns_capitalised") and lower in lang.words("graph.person_before", language)
        return word[-1] == "." or noun
    plural = opens and len(words) > 2 and words[1][0] == "of" and word[-1] == "s"  # `Scenes of Albany were shot`
    return plural and word not in cues(language) and lower in dictionary(lang.FALLBACK)


def _is_of_country(words: Sequence[Word], language: str) -> bool:
    """Whether the words after a nationality make a name with it: `British Museum`, `Canadian Shield`."""
    if any(word in cues(language) for word, _, _ in words):
        return True
    return len(words) == 1 and words[0][0].lower() in dictionary(lang.FALLBACK).common


def _is_tail(words: Sequence[Word], language: str) -> bool:
    word = words[-1][0].strip("'’")
    if word.lower() in _never(language) or re.fullmatch(_JOIN, word):
        return True
    number = len(words) > 1 and word.isdigit() and is_german_noun(words[-2][0], language)
    return number or (len(words) > 1 and is_noun_tail(word, language))


def _is_demonym(word: str) -> bool:
    return bool(_DEMONYM.match(word)) and not _NO_DEMONYM.match(word)


def certain_names(passages: Sequence[tuple[str, str]], title: str) -> list[list[Found]]:
    """The names of each passage (text, language) of a document, without what is more likely a common word.

    An uncertain name counts where the document uses it elsewhere as a certain one, or as a part of one, and never in
    lower case.
    """
    found = [list(names_in(text, language, title)) for text, language in passages]
    lower = _lower_words(text for text, _ in passages)
    sure = Counter(one.text for names in found for one in names if one.certain and one.text.lower() not in lower)
    spoken = {language for _, language in passages}
    parts = {part for name in sure if " " in name for part in name.split() if _stands_alone(part, spoken)}
    known = set(sure) | parts | {title}
    known |= set(title.split()) if len(title.split()) < 4 else set()
    return [
        [
            one
            for one in names
            if one.text.lower() not in lower and (one.certain or one.text in known or _is_sure_pair(one, known))
        ]
        for names in found
    ]


def _stands_alone(word: str, languages: Iterable[str]) -> bool:
    """Whether a word of a name may stand for it: no word that only tells what it is."""
    return not any(word in cues(language) or is_german_noun(word, language) for language in languages)


def _is_sure_pair(one: Found, known: set[str]) -> bool:
    words = one.text.split()
    return len(words) > 1 and all(word in known or not word[0].isupper() for word in words)


def _lower_words(texts: Iterable[str]) -> frozenset[str]:
    """All words that a document writes in lower case."""
    return frozenset(word for text in texts for word in re.findall(r"\b[^\W\d_A-ZÄÖÜ][^\W\d_]*\b", text))
