"""The noun phrases of a question, phrases by function words and capital letters; German and English."""

import re
from dataclasses import dataclass

from pincite.text.terms import STOP_WORDS, stem

_TOKEN = re.compile(r"[^\W_][\w'’./+-]*[\w+]|[^\W_]|[?!.,;:()\"„“”«»]")
_DETERMINERS = {
    "en": frozenset("the a an this that these those my our your their his her its".split()),
    "de": frozenset(
        "der die das den dem des ein eine einen einem einer eines dieser diese dieses diesen diesem unser unsere unseren "
        "unserem unserer mein meine meinen meinem meiner".split()
    ),
}
_JOINS = {"en": frozenset({"of"}), "de": frozenset({"von", "des", "der"})}
"""Words that may hold two parts of one phrase together."""

_NO_NOUNS = {
    "en": frozenset(
        stem(word, "en")
        for word in
        # what questions do rather than what they are about
        "tell explain give get know need want use make find say mean please much many long often big good like clarify happen "
        "work help let talk mention think speak apply open close cost start begin end run take last expire offer include "
        "store affect cause become come go keep see show look differ compare relate describe summarize summarise define list "
        "name provide allow require exist live leave left return send receive pay buy install update create delete add remove "
        "change set configure check hear understand wonder possible available different difference same true right sure ok "
        "okay yes also still ever already usually currently actually really able best better new old first last next old high "
        "low far near heavy expensive cheap deep tall wide hot cold full empty safe bad free again later early late soon today "
        "measure built build call consist contain belong weigh drive walk eat drink sleep study freeze melt break stand meant mean try tried cannot "
        "pretty course way apart heard excuse file estimate avoid forget forgot purchase kind sort handle achieve scan protect "
        "bill charge talk speak notify consider switch total total target given enough any kept kept made held done found sold shown seen worn gone brought taken paid told "
        "carry hold serve wear bring meet play read write sit reach rise fall grow lose win stop rest sell ship travel ride "
        "join die marry retire resign graduate arrive stay".split()
    ),
    "de": frozenset(),
}
"""Words that carry meaning and are seldom the thing asked about, as stems."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase as written, its determiner, its offsets, whether it is a name, and the word before it."""

    text: str
    determiner: str
    start: int
    end: int
    named: bool
    before: str = ""

    @property
    def definite(self) -> str:
        """The phrase with a definite article, as it can stand in another question."""
        lead = self.determiner.lower()
        return f"{_DEFINITE.get(lead, lead)} {self.text}" if lead else self.text


_DEFINITE = {
    "a": "the", "an": "the", "this": "the", "that": "the", "these": "the", "those": "the",
    "ein": "das", "eine": "die", "einen": "den", "einem": "dem", "einer": "der", "eines": "des",
    "dieser": "der", "diese": "die", "dieses": "das", "diesen": "den", "diesem": "dem",
}  # fmt: skip


def noun_phrases(text: str, language: str) -> list[Phrase]:
    """The noun phrases of a question, in their order."""
    tokens = [(match.group(), match.start(), match.end()) for match in _TOKEN.finditer(text)]
    is_noun = [_is_noun(word, number, tokens, language) for number, (word, _, _) in enumerate(tokens)]
    phrases: list[Phrase] = []
    number = 0
    while number < len(tokens):
        if not is_noun[number]:
            number += 1
            continue
        last = _phrase_end(number, tokens, is_noun, language)
        phrases.append(_phrase(text, tokens, number, last, language))
        number = last + 1
    return phrases


def _is_noun(word: str, number: int, tokens: list[tuple[str, int, int]], language: str) -> bool:
    if not word[0].isalnum():
        return False
    low = word.lower()
    if language == "de":
        opens = (number == 0 or tokens[number - 1][0] in ".?!") and (low in _OPENERS or len(tokens) > 4)
        return (word[0].isupper() and not opens and low != "sie") or any(map(str.isdigit, word))
    if low in STOP_WORDS["en"] or low in _SMALL:
        return False
    if word[0].isupper() and number > 0:
        return True
    closes = (
        number + 1 == len(tokens) or not tokens[number + 1][0][0].isalnum() or tokens[number + 1][0] in _PREPOSITIONS
    )
    return stem(low, "en") not in _NO_NOUNS["en"] and not (low.endswith("ed") and closes)


_SMALL = frozenset(
    "i'm i've it's that's what's don't doesn't isn't aren't can't won't may might must shall us let's etc via per within "
    "without upon since though although however else any anything something someone everything every another others".split()
)
_PREPOSITIONS = frozenset("in on at for from with by to during after before when if while until since as".split())
_OPENERS = STOP_WORDS["de"] | frozenset(
    "wie was wer wo wann warum wieso weshalb welche welcher welches welchen welchem womit wofür wodurch woran worauf worin "
    "worüber wovon wozu wieviel gibt gilt kostet dauert darf dürfen braucht brauche benötige hat haben macht geht steht liegt "
    "nenne erkläre beschreibe fasse vergleiche zeige sag bitte läuft fährt öffnet schließt kommt".split()
)
"""German words that open a sentence with a capital and are no nouns."""


def _phrase_end(first: int, tokens: list[tuple[str, int, int]], is_noun: list[bool], language: str) -> int:
    """The index of the last token of the phrase that begins at `first`: adjacent nouns, or nouns joined by `of`."""
    last = first
    while last + 1 < len(tokens):
        word = tokens[last + 1][0].lower()
        if is_noun[last + 1]:
            last += 1
            continue
        step = last + 2
        if word not in _JOINS[language]:
            break
        if step < len(tokens) and tokens[step][0].lower() in _DETERMINERS[language]:
            step += 1
        if step >= len(tokens) or not is_noun[step]:
            break
        last = step
    return last


def _phrase(text: str, tokens: list[tuple[str, int, int]], first: int, last: int, language: str) -> Phrase:
    """The phrase from token `first` to `last` with its determiner; in German, with the adjective between them."""
    lead = [token[0].lower() for token in tokens[max(0, first - 3) : first]]
    start, determiner = tokens[first][1], ""
    if lead and lead[-1] in _DETERMINERS[language]:
        determiner = tokens[first - 1][0]
    elif language == "de" and len(lead) > 1 and lead[-2] in _DETERMINERS["de"] and lead[-1].endswith(_INFLECTED):
        determiner, start = tokens[first - 2][0], tokens[first - 1][1]
        lead.pop()
    lead = lead[:-1] if determiner else lead
    end = tokens[last][2]
    named = language == "en" and any(tokens[n][0][0].isupper() for n in range(max(1, first), last + 1))
    return Phrase(text[start:end], determiner, start, end, named, lead[-1] if lead else "")


_INFLECTED = ("e", "en", "er", "es", "em")
