"""A fragment made whole: the question before, with one of its parts replaced (`And in 2023?`, `And the canteen?`)."""

import re
from collections.abc import Sequence

from pincite.query.understand.standalone.noun_phrases import Phrase, is_plural, noun_phrases, periods, simple_phrases
from pincite.text import lang
from pincite.text.terms import stem, stop_words

MAX_PART_WORDS = 6
"""Words of a fragment; a longer one is seldom a single part of a question."""
_NUMBER = re.compile(r"\d[\d.]*\d|\d")
_YEAR = re.compile(r"(?:19|20)\d\d")
_SHARED, _NAMED, _DETERMINED, _NUMBERED, _CASE, _PREPOSITION, _DISAGREES = 4, 3, 2, 1, 1, -1, -9
"""What speaks for a slot: a common word, both names, the same article, number or case; and against it."""


def replace_part(part: str, before: Sequence[str], language: str, *, phrases: bool = True) -> str | None:
    """The last question with the slot replaced that the part fits; None where no slot is clearly the one.

    `before` are the questions so far as they were understood, the last one first. Without `phrases`, only times,
    numbers and what follows a preposition are replaced.
    """
    words = part.split()
    if not words or len(words) > MAX_PART_WORDS or not before[0]:
        return None
    if words[0].lower() in stop_words(language) | lang.words("phrases.determiners", language):
        part = f"{part[0].lower()}{part[1:]}"
    if _NUMBER.fullmatch(part):
        return _replace_number(part, before[0], language)
    if part.lower() in lang.words("followup.times", language):
        return _replace_time(part, before[0], language)
    if lang.own_regex("followup.prepositions", language, r"%s", re.IGNORECASE).fullmatch(words[0]):
        return _replace_after(part, before, language)
    if match := lang.own_regex("followup.another_one", language, flags=re.IGNORECASE).fullmatch(part):
        return _another_one(match["which"], before[0], language)
    return _replace_phrase(part, before[0], language) if phrases else None


def is_time(phrase: Phrase, language: str) -> bool:
    """Whether a phrase is a date, a period or a number, which no pronoun stands for."""
    times = periods(language) | lang.words("dates.weekday_names", language)
    if phrase.determiner and phrase.before not in lang.words("phrases.prepositions", language):
        return False  # `Was kostet der Abend?`
    return all(word.lower().rstrip("s.") in times or word[0].isdigit() for word in phrase.text.split())


def _replace_number(part: str, before: str, language: str) -> str | None:
    alike = [one for one in _NUMBER.finditer(before) if len(one[0]) == len(part)]
    if alike:
        return f"{before[: alike[-1].start()]}{part}{before[alike[-1].end() :]}"
    if not _YEAR.fullmatch(part):
        return None
    lead = " ".join(lang.sequence("followup.before_year", language))
    return _append(f"{lead} {part}".strip(), before, language)


def _replace_time(part: str, before: str, language: str) -> str:
    """`And tomorrow?` after a question about today; at the end of a question about no time."""
    for match in re.finditer(r"[^\W\d_]+", before):
        if match.start() and match[0].lower() in lang.words("followup.times", language):
            return f"{before[: match.start()]}{part}{before[match.end() :]}"
    return _append(part, before, language)


def _replace_after(part: str, before: Sequence[str], language: str) -> str | None:
    """The question with another phrase after the same preposition; at its end where it has none."""
    given = part.split()[0].lower()
    contracted = lang.mapping("followup.contracted", language)
    plain = contracted.get(given, given)
    if not (rest := simple_phrases(part, language)):
        return None
    timed = is_time(rest[-1], language)
    for number, question in enumerate(before[: 1 if timed else 2]):
        for phrase in reversed(simple_phrases(question, language)):
            word = phrase.before
            start = question.lower().rfind(f" {word} ", 0, phrase.first)
            if contracted.get(word, word) == plain and start >= 0 and is_time(phrase, language) == timed:
                return f"{question[: start + 1]}{part}{question[phrase.end :]}"
        if number == 0 and timed:
            break
    may = plain in lang.words("followup.appended", language) or timed
    return _append(part, before[0], language) if may else None


def _append(part: str, before: str, language: str) -> str:
    """The question with a part at its end; in German before a participle, an infinitive or a prefix at the end."""
    bare = before.rstrip("?!. ")
    last = bare.split()[-1]
    if language in lang.flagged("nouns_capitalised") and last.islower() and len(bare.split()) > 3:
        return f"{bare[: -len(last)]}{part} {last}?"
    return f"{bare} {part}?"


def _another_one(which: str, before: str, language: str) -> str | None:
    """The question before about another thing of the same name: `and the small one?`"""
    phrases = simple_phrases(before, language)
    if not phrases or not phrases[-1].determiner:
        return None
    noun = phrases[-1].text.split()[-1]
    return f"{before[: phrases[-1].first]}{which} {noun}{before[phrases[-1].end :]}"


def _replace_phrase(part: str, before: str, language: str) -> str | None:
    determiners, joints = lang.words("phrases.determiners", language), lang.words("phrases.joints", language)
    head, _, tail = part.partition(" ")
    determiner, body = (head, tail) if head.lower() in determiners else ("", part)
    closed = stop_words(language) | lang.words("phrases.prepositions", language)
    if (
        not body
        or any(word.lower() in closed | joints for word in body.split())
        or re.search(r"[,;:]|(?<!\d)\.", body + before[:-1])
    ):
        return None
    named = any(word[0].isupper() or word[0].isdigit() for word in body.split())
    new = Phrase(body, determiner, 0, 0, named and language not in lang.flagged("nouns_capitalised"))
    slots = [phrase for phrase in simple_phrases(before, language) if _is_slot(phrase, language)]
    bare = [slot for slot in slots if not slot.determiner]
    if not determiner and not named and len(bare) > 1 and before[1:] == before[1:].lower():
        return None  # without capitals a name, a verb and a noun look alike
    if (inner := _genitive_slot(new, slots, before, language)) is not None:
        return inner or None
    scored = sorted(((_fit(new, slot, language), number) for number, slot in enumerate(slots)), reverse=True)
    only = len(scored) == 1 and language in lang.flagged("nouns_capitalised")
    if not scored or scored[0][0] < (0 if only else 1) or scored[0][0] in {fit for fit, _ in scored[1:]}:
        return None
    return _filled(new, slots[scored[0][1]], before, language)


def _genitive_slot(new: Phrase, slots: Sequence[Phrase], before: str, language: str) -> str | None:
    """The question about the same of another owner, who is in the genitive; empty where the form is not certain."""
    genitives, starts = lang.mapping("followup.after_genitive", language), _starts(before, language)
    for slot in slots:
        inner = slot.start not in starts and slot.determiner.lower() in genitives
        if inner and _common_words(new, slot, language):
            fits = new.determiner.lower() in (slot.determiner.lower(), genitives[slot.determiner.lower()])
            return f"{before[: slot.start]}{new.text}{before[slot.end :]}" if fits else ""
    return None


def _starts(text: str, language: str) -> set[int]:
    return {phrase.start for phrase in noun_phrases(text, language)}


def _common_words(one: Phrase, other: Phrase, language: str) -> set[str]:
    first, second = ({stem(word.lower(), language) for word in each.text.split()} for each in (one, other))
    return first & second


def _is_slot(phrase: Phrase, language: str) -> bool:
    """What is counted or chosen from stays, and so does a time."""
    counted = lang.own_regex("followup.counting", language, flags=re.IGNORECASE).fullmatch(phrase.before)
    measured = phrase.before in lang.words("followup.quantifiers", language)
    return phrase.sure and not counted and not measured and not is_time(phrase, language)


def _fit(new: Phrase, slot: Phrase, language: str) -> int:
    """How well a phrase fits a slot."""
    common = _common_words(new, slot, language)
    capitals = language in lang.flagged("nouns_capitalised")
    one, other = new.determiner.lower(), slot.determiner.lower()
    cases = lang.mapping("followup.cases", language)
    agrees = bool(set(cases.get(one, "").split()) & set(cases.get(other, "").split()))
    return (
        _SHARED * bool(common)
        + _NAMED * (new.named and slot.named)
        + _DETERMINED * (one == other or (slot.owned and bool(one)))
        + _NUMBERED * (not capitals and is_plural(new, language) == is_plural(slot, language))
        + (_CASE if agrees else _DISAGREES if capitals and one and other else 0)
        + _PREPOSITION
        * (
            slot.before in lang.words("phrases.prepositions", language)
            or slot.before in lang.words("phrases.joints", language)
        )
    )


def _filled(new: Phrase, slot: Phrase, before: str, language: str) -> str | None:
    """The question with a phrase in a slot, and its verb in the number of that phrase."""
    if (start := _name_within(new, slot, language)) is not None:
        return f"{before[: start[0]]}{new.text}{before[start[1] :]}"
    lead = before[: slot.start if slot.owned else slot.first]
    text = new.text if slot.owned or not new.determiner else f"{new.determiner} {new.text}"
    if _number(new, language) != _number(slot, language) and None not in (
        _number(new, language),
        _number(slot, language),
    ):
        swapped = _swap_verb(lead, language)
        if swapped is None:
            return None
        lead = swapped
    return f"{lead}{text}{before[slot.end :]}"


def _name_within(new: Phrase, slot: Phrase, language: str) -> tuple[int, int] | None:
    """Where a name stands within a slot: `And Zurich?` after the Basel office is the Zurich office."""
    if (
        language in lang.flagged("nouns_capitalised")
        or not new.named
        or new.determiner
        or re.search(r"\b[a-z]", new.text)
    ):
        return None
    name = re.search(r"[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*(?= [a-z])", slot.text)
    return (slot.start + name.start(), slot.start + name.end()) if name else None


def _number(phrase: Phrase, language: str) -> bool | None:
    """Whether a phrase is a plural; None where its form does not tell."""
    if language not in lang.flagged("nouns_capitalised"):
        return is_plural(phrase, language)
    article = phrase.determiner.lower()
    if article not in lang.words("followup.either_number", language):
        return False if article else None
    ends = lang.own_regex("followup.plural_endings", language, r"%s$").search(phrase.text.split()[-1])
    return True if ends else None


def _swap_verb(lead: str, language: str) -> str | None:
    """The words before a subject with their verb in the other number; unchanged before an object."""
    verbs = lang.mapping("followup.other_number", language)
    others = {**verbs, **{other: one for one, other in verbs.items()}}
    words = lead.split()
    number = next((n for n in range(len(words) - 1, -1, -1) if words[n].lower() in others), None)
    object_first = words and lang.own_regex("followup.asks_who", language, flags=re.IGNORECASE).fullmatch(words[0])
    if number is None:
        return lead if object_first else None
    if number < len(words) - 2:
        return lead  # the subject stands between them
    other = others[words[number].lower()]
    words[number] = other.capitalize() if words[number][0].isupper() else other
    return " ".join(words) + (" " if lead.endswith(" ") else "")
