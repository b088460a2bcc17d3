"""Coreference resolution by rules: a follow-up question becomes one that can be understood alone."""

import re
from collections.abc import Sequence
from dataclasses import replace

from pincite.core.query.question import Exchange
from pincite.query.understand.followup import BARE, FINITE, find_reference
from pincite.query.understand.noun_phrases import Phrase, noun_phrases
from pincite.text.terms import STOP_WORDS, question_language, terms

MAX_PREVIOUS_CHARS = 200
"""A previous question of this many characters or more is used without the topics that were appended to it."""

_ARTICLE = {
    "er": "der", "sie": "die", "es": "das", "ihn": "den", "ihm": "dem", "ihnen": "den", "ihr": "der",
}  # fmt: skip
"""German: the article that agrees with a pronoun."""
_MASCULINE, _NEUTER, _FEMININE = "masculine", "neuter", "feminine"
_GENDER = {
    "er": (_MASCULINE,), "ihn": (_MASCULINE,), "ihm": (_MASCULINE, _NEUTER), "es": (_NEUTER,), "sie": (_FEMININE,),
    "ihr": (_FEMININE,), "ihnen": (_FEMININE,),
}  # fmt: skip
"""German: what a pronoun may stand for; plurals have the feminine's articles."""
_DATIVE = frozenset("mit von zu bei nach aus seit in an auf über unter vor hinter neben zwischen ab".split())
_WITH_PREPOSITION = re.compile(
    r"(?:da|hier)r?(an|auf|aus|bei|durch|für|gegen|hinter|in|mit|nach|neben|über|um|unter|von|vor|zu)"
)
_PERSONAL = frozenset("he him his she her hers".split())
_MAYBE_PERSONAL = frozenset("er sie ihn ihm ihr".split())
_POSSESSIVE = {"its": "'s", "their": "'s", "his": "'s", "her": "'s"}
_WHOLE = frozenset("that this das dies".split())
_PLACES = frozenset("there here dort dorthin da same such both others another one ones former latter".split())
_OPENING = re.compile(
    r"^\W*+(?:(?:and|but|or|then|what|how)\s+)*(?:about|and|but|or|then)\s+|^\W*+(?:und|aber|oder|dann)?\s*(?:was ist mit|"
    r"wie (?:sieht|steht|ist) es (?:mit|bei|in)|und|aber|oder|dann)\s+",
    re.IGNORECASE,
)  # fmt: skip
_PREPOSITION = re.compile(
    r"^(in|on|at|for|from|with|without|to|during|after|before|by|under|over|im|in|am|an|auf|bei|beim|für|mit|ohne|nach|vor|von|"
    r"vom|zum|zur|während|unter|über|aus|seit|bis)\s+\S",
    re.IGNORECASE,
)  # fmt: skip
_BESIDE = re.compile(r" \([^()]*\)")
_NAME = re.compile(r"(?<![\w'’-])[A-ZÄÖÜ][\w'’-]++(?: (?:von|van|de|[A-Z]\.))*(?: [A-ZÄÖÜ][\w'’-]++)+")
_ASKS_WHO = re.compile(r"^\W*(?:who|whose|whom|wer|wem|wen|wessen)\b", re.IGNORECASE)


_IS_NAME = re.compile(r"[A-Z][\w'’-]++(?: [A-Z][\w'’-]++)*")
_IN_NAME = re.compile(r"(?<= )[A-Z][\w'’-]++(?: [A-Z][\w'’-]++)*")
_OF = re.compile(r".* of (?:(the|my|our|your) )?(.*)")


def make_standalone(text: str, conversation: Sequence[Exchange]) -> str:
    """The question with its references replaced by what they stand for; unchanged where no antecedent is found."""
    text = " ".join(text.split())
    language = question_language(text if terms(text, "en") else conversation[-1].standalone)
    before = " ".join(conversation[-1].standalone.split())
    if BARE.match(text):
        return f"{_strip_topics(before)} {text}"
    rest = _OPENING.sub("", text)
    if (
        rest != text
        and not FINITE[language].search(rest)
        and not find_reference(rest, language)
        and len(terms(rest, language)) <= 3
    ):
        return _replace_part(
            before if len(before) < MAX_PREVIOUS_CHARS else _strip_topics(before), rest.rstrip("?!. "), language
        )
    if found := find_reference(text, language):
        return _resolve_reference(text, found, conversation, language)
    topic = _antecedent("", conversation, language)
    return _append_topic(text, topic.definite if topic else "")


def _strip_topics(before: str) -> str:
    """A question without the topics appended in brackets, so that questions do not grow from turn to turn."""
    return _BESIDE.sub("", before).partition("? ")[0].strip() + ("?" if "? " in before else "")


def _replace_part(before: str, part: str, language: str) -> str:
    """The previous question with one part replaced: `And in summer?`, `And the canteen?`"""
    if preposition := _PREPOSITION.match(part):
        same = re.compile(rf"\b{preposition[1]}\s+\Z", re.IGNORECASE)
        for phrase in reversed(noun_phrases(before, language)):
            end = max(0, phrase.start - len(phrase.determiner) - bool(phrase.determiner))
            if match := same.search(before, max(0, end - len(preposition[1]) - 2), end):
                return f"{before[: match.start()]}{part}{before[phrase.end :]}"
        return f"{before.rstrip('?!. ')} {part}?"
    if language == "en" and _IS_NAME.fullmatch(part) and (names := _IN_NAME.findall(before, 1)):
        return before.replace(names[-1], part)  # `And Zurich?` after the Basel office is the Zurich office
    old = _phrase_to_replace(part, noun_phrases(before, language), language)
    if old is None:
        return _append_topic(f"{part[:1].upper()}{part[1:]}?", before.rstrip("?!. "))
    start = old.start - (len(old.determiner) + 1 if old.determiner else 0)
    return f"{before[:start]}{part}{before[old.end :]}"


def _phrase_to_replace(part: str, phrases: Sequence[Phrase], language: str) -> Phrase | None:
    """The phrase of the previous question that `part` most likely replaces."""
    found = noun_phrases(part, language)
    determined = bool(found and found[0].determiner)
    candidates = [phrase for phrase in phrases if bool(phrase.determiner) == determined]
    return candidates[-1] if candidates else phrases[-1] if phrases else None


def _resolve_reference(text: str, found: re.Match[str], conversation: Sequence[Exchange], language: str) -> str:
    """The text with a reference replaced by its antecedent."""
    word = found[0].split()[-1].lower()
    start, end = found.end() - len(word), found.end()
    noun = re.match(r"\s+([^\W\d_][\w-]*)", text[end:])
    named = noun and noun_phrases(noun[1], language)
    if word in _WHOLE and not named:  # `Does that hold for guests?` refers to the whole previous question
        return _append_topic(text, _strip_topics(conversation[-1].standalone).rstrip("?!. "))
    topic = _antecedent(word, conversation, language)
    if topic is None:
        return text
    if noun and named and (word.startswith(("dies", "jene", "solch")) or word in ("this", "these", "those", "that")):
        if noun[1].lower() in topic.text.lower():  # `this mission`, and the mission was named
            return f"{text[:start]}{topic.definite}{text[end + noun.end() :]}"
        return _append_topic(text, topic.definite)
    if word in _PLACES or word.startswith(("letzter", "erster", "beide", "ders", "dies", "dass")):
        return _append_topic(text, topic.definite)
    if language == "de":
        return _resolve_german(text, word, start, end, topic)
    if word in _POSSESSIVE and noun:
        return f"{text[:start]}{_capitalize_at_start(topic.definite, start)}{_POSSESSIVE[word]}{text[end:]}"
    return f"{text[:start]}{_capitalize_at_start(topic.definite, start)}{text[end:]}"


def _resolve_german(text: str, word: str, start: int, end: int, topic: Phrase) -> str:
    if part := _WITH_PREPOSITION.fullmatch(word):
        return f"{text[:start]}{_capitalize_at_start(part[1], start)} {topic.definite}{text[end:]}"
    if word in _ARTICLE and not (word == "ihr" and re.match(r"\s+[A-ZÄÖÜ]", text[end:])):
        new = f"{_ARTICLE[word]} {topic.text}" if topic.determiner else topic.text
        return f"{text[:start]}{_capitalize_at_start(new, start)}{text[end:]}"
    if word in ("das", "die", "der", "den", "dem"):
        return f"{text[:start]}{_capitalize_at_start(topic.definite, start)}{text[end:]}"
    return _append_topic(text, topic.definite)


def _capitalize_at_start(phrase: str, start: int) -> str:
    return phrase[:1].upper() + phrase[1:] if start == 0 else phrase


def _append_topic(text: str, topic: str) -> str:
    """The text with its topic appended in brackets."""
    if not topic or topic.lower() in text.lower():
        return text
    bare = text.rstrip()
    end = bare[-1] if bare.endswith(("?", "!", ".")) else ""
    return f"{bare.rstrip('?!. ')} ({topic}){end}"


def _antecedent(word: str, conversation: Sequence[Exchange], language: str) -> Phrase | None:
    """The antecedent of a word: the latest phrase that agrees with it, else the latest one; for a person, a name.

    Names of persons are taken from the answers, all other phrases from the questions.
    """
    latest: Phrase | None = None
    for turn in reversed(conversation):
        asks_who = word in _MAYBE_PERSONAL and latest is None and _ASKS_WHO.match(turn.standalone)
        if (word in _PERSONAL or asks_who) and (name := _first_new_name(turn.answer, turn.standalone)):
            return Phrase(name, "", 0, 0, True)
        phrases = noun_phrases(turn.standalone, language)
        if fitting := _agreeing_phrases(word, phrases, language):
            return (
                _name_after_of(_most_prominent(word, fitting))
                if word in ("it", "its")
                else _most_prominent(word, fitting)
            )
        latest = latest or (_most_prominent(word, phrases) if phrases else None)
    return latest


def _name_after_of(phrase: Phrase) -> Phrase:
    """The part after `of` where it holds the name: `the rent of the Basel office` → `the Basel office`."""
    if (parts := _OF.fullmatch(phrase.text)) and phrase.named and any(map(str.isupper, parts[2])):
        return replace(phrase, text=parts[2], determiner=parts[1] or "")
    return phrase


def _first_new_name(answer: str, question: str) -> str:
    """The first name of several words in an answer that is not in the question; empty where there is none."""
    for match in _NAME.finditer(answer):
        words = match[0].split()
        while words and words[0].lower() in STOP_WORDS["en"] | STOP_WORDS["de"]:
            words.pop(0)
        if len(words) > 1 and " ".join(words).lower() not in question.lower():
            return " ".join(words)
    return ""


def _agreeing_phrases(word: str, phrases: Sequence[Phrase], language: str) -> list[Phrase]:
    """The phrases that agree with a word in gender and number, as far as their form shows it."""
    if language == "de" and word in _GENDER:
        return [phrase for phrase in phrases if set(_genders(phrase)) & set(_GENDER[word])]
    if word in ("they", "them", "their", "these", "those"):
        return [phrase for phrase in phrases if phrase.text.endswith("s")] or list(phrases)
    if word in ("it", "its"):
        return [phrase for phrase in phrases if not phrase.text.endswith("s") or phrase.named] or list(phrases)
    return list(phrases)


def _most_prominent(word: str, phrases: Sequence[Phrase]) -> Phrase:
    """The first name; else, for a pronoun, the first phrase with an article; else the first phrase."""
    determined = (phrase for phrase in phrases if phrase.determiner and word)
    return next((phrase for phrase in phrases if phrase.named), next(determined, phrases[0]))


def _genders(phrase: Phrase) -> tuple[str, ...]:
    """German: the genders that the article of a phrase allows; `der` is feminine only after a preposition or a noun."""
    article, before = phrase.determiner.lower(), phrase.before
    if article in ("der", "einer", "dieser", "unserer", "meiner"):
        return (_FEMININE,) if before in _DATIVE else (_MASCULINE,)
    if article in ("den", "einen", "diesen", "unseren", "meinen"):
        return (_FEMININE,) if before in _DATIVE else (_MASCULINE,)
    if article in ("die", "eine", "diese", "unsere", "meine", ""):
        return (_FEMININE,)
    if article in ("das", "dieses"):
        return (_NEUTER,)
    return (_MASCULINE, _NEUTER)
