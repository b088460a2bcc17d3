"""The things a question is about: its noun phrases, by small words and capital letters."""

import re
from dataclasses import dataclass
from functools import cache

from pincite.text import lang
from pincite.text.terms import stem, stop_words

_TOKEN = re.compile(r"[^\W_][\w'’./+-]*[\w+]|[^\W_]|[?!.,;:()\"„“”«»]")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase: as written, the determiner it has, the word before that, and where it stands."""

    text: str
    determiner: str
    start: int
    end: int
    named: bool
    before: str = ""

    @property
    def definite(self) -> str:
        """The phrase as it can stand in another question."""
        lead = self.determiner.lower()
        return f"{_definite_articles().get(lead, lead)} {self.text}" if lead else self.text


@cache
def _definite_articles() -> dict[str, str]:
    """The definite article in place of another determiner, in all languages."""
    return {word: article for one in lang.LANGUAGES for word, article in lang.mapping("phrases.definite", one).items()}


@cache
def _not_nouns(language: str) -> frozenset[str]:
    """Words that carry meaning and are seldom the thing asked about, as stems."""
    return frozenset(stem(word, language) for word in lang.words("phrases.no_nouns", language))


def noun_phrases(text: str, language: str) -> list[Phrase]:
    """The noun phrases of a question in order."""
    tokens = [(match.group(), match.start(), match.end()) for match in _TOKEN.finditer(text)]
    kinds = [_is_noun(word, number, tokens, language) for number, (word, _, _) in enumerate(tokens)]
    found: list[Phrase] = []
    number = 0
    while number < len(tokens):
        if not kinds[number]:
            number += 1
            continue
        last = _phrase_end(number, tokens, kinds, language)
        found.append(_phrase(text, tokens, number, last, language))
        number = last + 1
    return found


def _is_noun(word: str, number: int, tokens: list[tuple[str, int, int]], language: str) -> bool:
    if not word[0].isalnum():
        return False
    low = word.lower()
    if language in lang.flagged("nouns_capitalised"):
        small = low in stop_words(language) or low in lang.words("phrases.openers", language)
        opens = (number == 0 or tokens[number - 1][0] in ".?!") and (small or len(tokens) > 4)
        polite = low in lang.words("phrases.polite_pronouns", language)
        return (word[0].isupper() and not opens and not polite) or any(map(str.isdigit, word))
    if low in stop_words(language) or low in lang.words("phrases.small_words", language):
        return False
    if word[0].isupper() and number > 0:
        return True
    following = tokens[number + 1][0] if number + 1 < len(tokens) else ""
    closes = not following[:1].isalnum() or following in lang.words("phrases.prepositions", language)
    if stem(low, language) in _not_nouns(language):
        return closes and low.endswith("ing") and _is_determined(number, tokens, language)
    return not (low.endswith("ed") and closes)


def _is_determined(number: int, tokens: list[tuple[str, int, int]], language: str) -> bool:
    """Whether a determiner stands before a word, or before the one word that describes it: `the next meeting`."""
    before = [token[0].lower() for token in tokens[max(0, number - 2) : number]]
    determiners = lang.words("phrases.determiners", language)
    describes = bool(before) and stem(before[-1], language) in _not_nouns(language)
    return before[-1:] != [] and (before[-1] in determiners or (describes and before[0] in determiners))


def _phrase_end(first: int, tokens: list[tuple[str, int, int]], kinds: list[bool], language: str) -> int:
    """The last token of the phrase that begins at `first`: nouns in a row, or joined by `of`."""
    last, determiners = first, lang.words("phrases.determiners", language)
    while last + 1 < len(tokens):
        word = tokens[last + 1][0].lower()
        if kinds[last + 1]:
            last += 1
            continue
        step = last + 2
        if word not in lang.words("phrases.joints", language):
            break
        if step < len(tokens) and tokens[step][0].lower() in determiners:
            step += 1
        if step >= len(tokens) or not kinds[step]:
            break
        last = step
    return last


def _phrase(text: str, tokens: list[tuple[str, int, int]], first: int, last: int, language: str) -> Phrase:
    """With its determiner, and in German with the adjective between them."""
    determiners = lang.words("phrases.determiners", language)
    endings = lang.sequence("phrases.adjective_endings", language)
    lead = [token[0].lower() for token in tokens[max(0, first - 3) : first]]
    start, determiner = tokens[first][1], ""
    if lead and lead[-1] in determiners:
        determiner = tokens[first - 1][0]
    elif len(lead) > 1 and lead[-2] in determiners and lead[-1].endswith(endings):
        determiner, start = tokens[first - 2][0], tokens[first - 1][1]
        lead.pop()
    lead = lead[:-1] if determiner else lead
    end = tokens[last][2]
    named = language not in lang.flagged("nouns_capitalised") and any(
        tokens[n][0][0].isupper() for n in range(max(1, first), last + 1)
    )
    return Phrase(text[start:end], determiner, start, end, named, lead[-1] if lead else "")
