"""The noun phrases of a question, by closed word classes, by the position of its verb, and by capital letters."""

import re
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice, takewhile

from pincite.text import lang
from pincite.text.terms import stem, stop_words

_TOKEN = re.compile(
    r"\d{1,2}\.(?=\s+[^\W\d_])|[^\W_][\w'’./+-]*(?:[\w+]|(?<=[sxz])['’](?=\s))|[^\W_]|[?!.,;:()\"„“”«»]"
)
MAX_TOKENS = 80
"""Words of a text in which phrases are looked for; a question is shorter."""
_OWNER = re.compile(r"(?:['’]s|(?<=[sxz])['’])$")

_YEAR = re.compile(r"(?:19|20)\d\d")

Tokens = list[tuple[str, int, int]]


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase: as written, the determiner it has, the word before that, and where it stands.

    `owns` says that it is a possessor (`Helios` in `Helios's budget`), `owned` that a possessor stands before it.
    `sure` is false where the phrase may hold a word of the predicate, and where it is one of several joined by `and`.
    """

    text: str
    determiner: str
    start: int
    end: int
    named: bool
    before: str = ""
    owns: bool = False
    owned: bool = False
    sure: bool = True

    @property
    def first(self) -> int:
        """Where the phrase begins, with its determiner."""
        return self.start - (len(self.determiner) + 1 if self.determiner else 0)

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
def _stems(key: str, language: str) -> frozenset[str]:
    return frozenset(stem(word, language) for word in lang.words(key, language))


def is_plural(phrase: Phrase, language: str) -> bool:
    """Whether the last word of a phrase looks like a plural, in a language that forms it with `s`."""
    joints = lang.words("phrases.joints", language) | lang.words("phrases.attached", language)
    last = list(takewhile(lambda word: word not in joints, phrase.text.split()))[-1]
    if phrase.named and not last[0].islower():
        return False
    word = last.lower()
    return word in lang.words("phrases.plurals", language) or bool(re.search(r"[^siu]s$", word))


def noun_phrases(text: str, language: str) -> list[Phrase]:
    """The noun phrases of a question in order; phrases joined by `of` are one, and so is a subject with `for`."""
    found = list[Phrase]()
    for phrase in simple_phrases(text, language):
        joints = lang.words("phrases.joints", language)
        if found and found[-1].before in lang.words("phrases.before_subject", language):
            joints |= lang.words("phrases.attached", language)
        lead = phrase.determiner.lower() or phrase.before
        between = text[found[-1].end : phrase.start].split() if found else []
        joined = bool(between) and between[0].lower() in joints and len(between) <= 1 + bool(phrase.determiner)
        if joined and (phrase.before in joints or lead in joints) and not found[-1].owns:
            last = found.pop()
            phrase = replace(last, text=text[last.start : phrase.end], end=phrase.end, named=last.named or phrase.named)
        found.append(phrase)
    return found


def simple_phrases(text: str, language: str) -> list[Phrase]:
    """The noun phrases of a question in order, none within another."""
    matches = islice(_TOKEN.finditer(text), MAX_TOKENS)
    tokens: Tokens = [(match.group(), match.start(), match.end()) for match in matches]
    capitals, sentence = language in lang.flagged("nouns_capitalised"), _Sentence(tokens, language)
    kinds = [_is_capitalised_noun(n, tokens, language) for n in range(len(tokens))] if capitals else sentence.nouns()
    found, number = list[Phrase](), 0
    while number < len(tokens):
        last = number
        while kinds[number] and last + 1 < len(tokens) and kinds[last + 1] and not _ends(tokens, last, language):
            last += 1
        if kinds[number]:
            phrase = _phrase(text, tokens, number, last, language)
            owned = number > 0 and bool(_OWNER.search(tokens[number - 1][0]))
            if mark := _OWNER.search(phrase.text):
                phrase = replace(phrase, text=phrase.text[: mark.start()], end=phrase.start + mark.start(), owns=True)
            sure = (capitals or not sentence.unsure(number, last)) and not _is_coordinated(tokens, phrase, language)
            found.append(replace(phrase, owned=owned, sure=sure))
        number = last + 1
    return found


def _is_coordinated(tokens: Tokens, phrase: Phrase, language: str) -> bool:
    """Whether `and` stands beside a phrase."""
    following = next((word for word, start, _ in tokens if start >= phrase.end), "")
    joining = lang.words("followup.coordinating", language)
    return phrase.before in joining or following.lower() in joining


def _ends(tokens: Tokens, number: int, language: str) -> bool:
    """Whether a phrase ends before its next word: after a possessor, and before a year."""
    year = _YEAR.fullmatch(tokens[number + 1][0]) and tokens[number][0].lower() not in periods(language)
    return bool(_OWNER.search(tokens[number][0]) or year)


@cache
def periods(language: str) -> frozenset[str]:
    """Words for periods of time, and the months."""
    months = {name.lower() for group in lang.sequence("dates.months", language) for name in group.split(",")}
    return lang.words("followup.periods", language) | months


def _is_capitalised_noun(number: int, tokens: Tokens, language: str) -> bool:
    word = tokens[number][0]
    low = word.lower()
    following = tokens[number + 1][0].lower() if number + 1 < len(tokens) else ""
    small = low in stop_words(language) or low in lang.words("phrases.openers", language)
    leads = following in lang.words("phrases.determiners", language) or following in stop_words(language)
    opens = (number == 0 or tokens[number - 1][0] in ".?!") and (small or leads or len(tokens) > 4)
    polite = low in lang.words("phrases.polite_pronouns", language)
    return (word[0].isupper() and not opens and not polite) or any(map(str.isdigit, word))


class _Sentence:
    """The words of a question in a language whose nouns have no capitals: which are nouns depends on the verb's place."""

    def __init__(self, tokens: Tokens, language: str) -> None:
        self._words = [word for word, _, _ in tokens]
        self._low = [word.lower() for word in self._words]
        self._language = language
        self._open = [self._is_open(number) for number in range(len(tokens))]

    def _in(self, number: int, key: str) -> bool:
        inside = 0 <= number < len(self._low)
        return inside and self._low[number] in lang.words(f"phrases.{key}", self._language)

    def _is_open(self, number: int) -> bool:
        """Whether a word is of an open class: noun, verb, adjective or adverb."""
        word = self._low[number]
        if number and len(word) > 1 and self._words[number][0].isupper():
            return True  # the month of May
        keys = ("small_words", "prepositions", "determiners", "auxiliaries", "copulas")
        closed = any(word in lang.words(f"phrases.{key}", self._language) for key in keys)
        return word[0].isalnum() and not closed and word not in stop_words(self._language)

    def nouns(self) -> list[bool]:
        """Which words are nouns, or stand before one within its phrase."""
        verbs = self._verbs()
        kinds = [is_open and number not in verbs for number, is_open in enumerate(self._open)]
        for number in range(len(kinds)):
            kinds[number] = kinds[number] and not self._ends_predicate(number)
        for run in _runs(kinds):
            self._trim(run, kinds)
        return kinds

    def unsure(self, first: int, last: int) -> bool:
        """Whether a phrase may hold a verb, or after `is` at the beginning the predicate too."""
        begin = first - 1 if self._in(first - 1, "determiners") else first
        verbal = last > first and not self._in(first - 1, "determiners") and self._in(first, "verbs")
        verbal = verbal or any(self._low[n].endswith("s") and self._in_stem(n) for n in range(first + 1, last))
        opened = begin == 1 and self._in(0, "copulas")
        closes = last + 1 >= len(self._low) or not self._low[last + 1][0].isalnum()
        return verbal or (opened and closes and last > first and self._words[last].islower())

    def _in_stem(self, number: int) -> bool:
        return stem(self._low[number], self._language) in _stems("phrases.no_nouns", self._language)

    def _trim(self, run: list[int], kinds: list[bool]) -> None:
        """Remove adverbs at the end of a phrase, and words that are no nouns from the start of one without article."""
        determined = self._in(run[0] - 1, "determiners")
        asked = run[0] > 0 and self._low[run[0] - 1] in lang.words("phrases.degrees", self._language)
        predicate = self._in(run[0] - 1, "subjects") and self._in(run[0] - 2, "copulas")
        plain = not determined and all(self._words[number].islower() for number in run)
        predicate = predicate or (plain and run[0] == 2 and self._in(0, "subject_words") and self._in(1, "copulas"))
        if asked or predicate:
            for number in run:
                kinds[number] = False
            return
        while len(run) > 1 and self._in(run[-1], "adverbs"):
            kinds[run.pop()] = False
        while run and not determined and self._is_no_noun(run[0]) and (run[0] == 0 or all(map(self._is_no_noun, run))):
            kinds[run.pop(0)] = False

    def _is_no_noun(self, number: int) -> bool:
        word = self._words[number]
        listed = self._in(number, "no_nouns")
        inflected = stem(word.lower(), self._language) in _stems("phrases.no_nouns", self._language)
        plain = listed or (inflected and not word.endswith("s"))
        return plain and not (word[0].isupper() and number > 0)

    def _ends_predicate(self, number: int) -> bool:
        """Whether a word is a participle or an adjective after the subject: `is the dome heated`, `is it available`."""
        word = self._low[number]
        if word in lang.words("phrases.nouns_in_ed", self._language) or self._words[number][0].isupper():
            return False
        after = number + 1 == len(self._low) or not self._open[number + 1]
        formed = bool(lang.own_regex("phrases.predicate_endings", self._language, r"%s$").search(word))
        copula = any(self._in(before, "copulas") for before in range(number))
        described = copula and number > 1 and self._is_no_noun(number) and not self._in(0, "asks_noun")
        gerund = word.endswith("ing") and self._is_determined(number)  # `the next meeting`, not `the cafeteria closing`
        gerund = gerund and (self._in(number - 1, "determiners") or self._is_no_noun(number - 1))
        progressive = word.endswith("ing") and copula and number > 1 and not self._in(0, "asks_noun")
        return after and (formed or ((described or progressive) and not gerund))

    def _is_determined(self, number: int) -> bool:
        while number > 0 and self._open[number]:
            number -= 1
        return self._in(number, "determiners")

    def _verbs(self) -> set[int]:
        """The places of the verbs, by the words that demand one."""
        places = [
            number for number in range(len(self._low)) if self._in(number, "auxiliaries") and not self._open[number]
        ]
        found = {self._main_verb(number + 1) for number in places}
        found |= {n + 1 for n in range(len(self._low) - 1) if self._in(n, "infinitive") and self._is_infinitive(n + 1)}
        if self._in(0, "subject_words") and len(self._low) > 1 and self._open[1]:
            found.add(1)
        if self._low and self._is_base_verb(0):
            found.add(0)
        found |= {self._verb_after_choice(n) for n in range(len(self._low) - 1) if self._in(n, "choosing")}
        return found - {-1}

    def _is_infinitive(self, number: int) -> bool:
        word = self._words[number]
        return self._is_base_verb(number) or (self._open[number] and word.islower() and not word.endswith("s"))

    def _is_base_verb(self, number: int) -> bool:
        known = self._in(number, "verbs") or self._in(number, "no_nouns")
        return known and (number == 0 or self._words[number].islower())

    def _run(self, start: int) -> list[int]:
        end = start
        while end < len(self._open) and self._open[end]:
            end += 1
        return list(range(start, end))

    def _main_verb(self, start: int) -> int:
        """The verb after an auxiliary and the subject: the last known one of a run of words, else its last word."""
        number = start
        while number < len(self._low):
            if self._in(number, "subjects"):
                run = self._run(number + 1)
                return next((one for one in run if not self._in(one, "adverbs")), -1)
            if self._in(number, "determiners") or self._in(number, "prepositions") or self._in(number, "joints"):
                number += 1
                continue
            run = self._run(number)
            subject = 1 if number > start or not self._subject_before(start) else 0
            known = [one for one in run[subject:] if self._is_base_verb(one)]
            known = known or [one for one in run[subject:] if self._in(one, "noun_verbs")]
            if known or not run:
                return known[-1] if known else -1
            if self._in(run[-1] + 1, "copulas"):
                return -1  # `does the Basel office have`
            if len(run) > 1 and self._words[run[-1]].isalpha() and self._words[run[-1]].islower():
                return run[-1]
            number = run[-1] + 1
            if not (self._in(number, "prepositions") or self._in(number, "joints")):
                return -1
        return -1

    def _subject_before(self, start: int) -> bool:
        """Whether the auxiliary follows its subject: `Who may operate`."""
        return start == 2 and self._in(0, "subject_words")

    def _verb_after_choice(self, number: int) -> int:
        """The verb of `How many days carry over` or `What happens if`; none where an auxiliary follows."""
        run = self._run(number + 1)
        after = number + 1 + len(run)
        if not run or self._in(after, "auxiliaries") or self._in(after, "copulas") or self._in(after, "subjects"):
            return -1
        nominal = self._in(number, "counting")
        verbs = _stems("phrases.no_nouns", self._language) | _stems("phrases.verbs", self._language)
        known = [one for one in run[nominal:] if stem(self._low[one], self._language) in verbs]
        known = known or [one for one in run[nominal:] if self._in(one, "noun_verbs")]
        if known:
            return known[-1] if nominal else known[0]
        return -1 if nominal and len(run) < 2 else run[-1] if nominal else run[0]


def _runs(kinds: list[bool]) -> list[list[int]]:
    found = list[list[int]]()
    for number, kind in enumerate(kinds):
        if kind and number and kinds[number - 1]:
            found[-1].append(number)
        elif kind:
            found.append([number])
    return found


def _phrase(text: str, tokens: Tokens, first: int, last: int, language: str) -> Phrase:
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
    words = [word for word, _, _ in tokens[first : last + 1]]
    capitals = language in lang.flagged("nouns_capitalised")
    named = any(
        any(map(str.isdigit, word)) or (word[0].isupper() and not capitals and first + number > 0)
        for number, word in enumerate(words)
    )
    return Phrase(text[start : tokens[last][2]], determiner, start, tokens[last][2], named, lead[-1] if lead else "")
