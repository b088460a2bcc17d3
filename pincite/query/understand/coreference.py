"""A follow-up made whole without a model: what it points at is put in its place."""

import re
from collections.abc import Sequence
from dataclasses import replace

from pincite.core.query.question import Exchange
from pincite.query.understand.followup import find_reference, is_bare, is_sentence
from pincite.query.understand.noun_phrases import Phrase, noun_phrases
from pincite.text import lang
from pincite.text.terms import question_language, terms

MAX_PREVIOUS_CHARS = 200
"""A question of so many characters is not carried on with all that was put beside it."""
MAX_PART_TERMS = 3
"""Words of meaning of a part that takes the place of another one."""
MAX_LEAD_CHARS = 60
"""Characters before a phrase that are searched for its preposition or its determiner."""
_NUMBER = re.compile(r"\d[\d.]*\d|\d")
_BESIDE = re.compile(r" \([^()]*\)")
_NAME = r"(?<![\w'’-])[A-ZÄÖÜ][\w'’-]++(?: %s)*(?: [A-ZÄÖÜ][\w'’-]++)+"
_IS_NAME = re.compile(r"[A-Z][\w'’-]++(?: [A-Z][\w'’-]++)*")
_IN_NAME = re.compile(r"(?<= )[A-Z][\w'’-]++(?: [A-Z][\w'’-]++)*")


def make_standalone(text: str, conversation: Sequence[Exchange]) -> str:
    """The question with what it points at in its place; as it is where nothing was found to put there."""
    text = " ".join(text.split())
    language = question_language(text if terms(text, "en") else conversation[-1].standalone)
    before = " ".join(conversation[-1].standalone.split())
    if is_bare(text, language):
        return f"{_strip_topics(before)} {text}"
    rest = lang.regex("followup.opening", language, r"^\W*+%s", re.IGNORECASE).sub("", text)
    part = rest.rstrip("?!. ")
    if other := _another_one(before, part, language):
        return other
    goes_on = rest != text or bool(_NUMBER.fullmatch(part)) or _opens_with_preposition(part, language) is not None
    stands_alone = is_sentence(rest, language) or find_reference(rest, language)
    if goes_on and not stands_alone and len(terms(rest, language)) <= MAX_PART_TERMS:
        return _replace_part(before if len(before) < MAX_PREVIOUS_CHARS else _strip_topics(before), part, language)
    if found := find_reference(text, language):
        return _resolve_reference(text, found, conversation, language)
    topic = _antecedent("", conversation, language)
    return _append_topic(text, topic.definite if topic else "")


def _strip_topics(before: str) -> str:
    """A question without what was put beside it, so that questions do not grow from turn to turn."""
    return _BESIDE.sub("", before).partition("? ")[0].strip() + ("?" if "? " in before else "")


def _replace_part(before: str, part: str, language: str) -> str:
    """The question before, asked about something else: `And in summer?`, `And the canteen?`"""
    if _NUMBER.fullmatch(part) and (numbers := [one for one in _NUMBER.finditer(before) if len(one[0]) == len(part)]):
        return f"{before[: numbers[-1].start()]}{part}{before[numbers[-1].end() :]}"
    if preposition := _opens_with_preposition(part, language):
        return _replace_after(preposition[1], before, part, language)
    if language == "en" and _IS_NAME.fullmatch(part) and (names := _IN_NAME.findall(before, 1)):
        return before.replace(names[-1], part)  # `And Zurich?` after the Basel office is the Zurich office
    old = _phrase_to_replace(part, noun_phrases(before, language), language)
    if old is None:
        return _append_topic(f"{part[:1].upper()}{part[1:]}?", before.rstrip("?!. "))
    start = old.start - (len(old.determiner) + 1 if old.determiner else 0)
    if lang.regex("followup.counting", language, r"\b%s\s*\Z", re.IGNORECASE).search(before[:start]):
        return _append_topic(f"{before.rstrip('?!. ')}?", part)  # what is counted stays
    if not old.determiner and (lead := _determiner_before(before[:start], language)):
        start = lead.start()
    words = old.text.split()
    if len(words) > 2 and " " not in part and not old.named:  # `the policy cover theft`: a verb is among them
        start = old.end - len(words[-1])
    return f"{before[:start]}{part}{before[old.end :]}"


def _opens_with_preposition(part: str, language: str) -> re.Match[str] | None:
    return lang.regex("followup.prepositions", language, r"^(%s)\s+\S", re.IGNORECASE).match(part)


def _replace_after(preposition: str, before: str, part: str, language: str) -> str:
    """The question before with another phrase after the same preposition; at its end where it has none."""
    inside = re.compile(rf"\b{preposition}\s+", re.IGNORECASE)
    same = re.compile(rf"\b{preposition}\s+(?:[\w'’-]+\s+){{0,2}}\Z", re.IGNORECASE)
    for phrase in reversed(noun_phrases(before, language)):
        if joined := inside.search(before, phrase.start, phrase.end):
            return f"{before[: joined.start()]}{part}{before[phrase.end :]}"
        end = max(0, phrase.start - len(phrase.determiner) - bool(phrase.determiner))
        if match := same.search(before, max(0, end - MAX_LEAD_CHARS), end):
            return f"{before[: match.start()]}{part}{before[phrase.end :]}"
    return f"{before.rstrip('?!. ')} {part}?"


def _determiner_before(text: str, language: str) -> re.Match[str] | None:
    """A determiner at the end of a text, with one word after it at most."""
    determiners = "|".join(map(re.escape, sorted(lang.words("phrases.determiners", language)))) or "(?!)"
    found = re.compile(rf"\b(?:{determiners})\s+(?:[\w'’-]+\s+)?\Z", re.IGNORECASE)
    return found.search(text, max(0, len(text) - MAX_LEAD_CHARS))


def _another_one(before: str, part: str, language: str) -> str:
    """The question before about another thing of the same name: `and the small one?`"""
    match = lang.own_regex("followup.another_one", language, flags=re.IGNORECASE).fullmatch(part)
    phrases = noun_phrases(before, language)
    if not match or not phrases:
        return ""
    noun = phrases[-1].text.split()[-1]
    start = phrases[-1].end - len(noun)
    lead = _determiner_before(before[:start], language)
    return f"{before[: lead.start() if lead else start]}{match['which']} {noun}{before[phrases[-1].end :]}"


def _phrase_to_replace(part: str, phrases: Sequence[Phrase], language: str) -> Phrase | None:
    """The phrase of the question before that another one most likely takes the place of."""
    found = noun_phrases(part, language)
    determined = bool(found and found[0].determiner)
    alike = [phrase for phrase in phrases if bool(phrase.determiner) == determined]
    return alike[-1] if alike else phrases[-1] if phrases else None


def _resolve_reference(text: str, found: re.Match[str], conversation: Sequence[Exchange], language: str) -> str:
    """The text with the word that points back replaced by what it points at."""
    word = found[0].split()[-1].lower()
    start, end = found.end() - len(word), found.end()
    noun = re.match(r"\s+([^\W\d_][\w-]*)", text[end:])
    named = noun and noun_phrases(noun[1], language)
    if (
        word in lang.recognised_words("followup.whole", language) and not named
    ):  # `Does that hold for guests?` points at all that was asked
        return _append_topic(text, _strip_topics(conversation[-1].standalone).rstrip("?!. "))
    topic = _antecedent(word, conversation, language)
    if topic is None:
        return text
    if noun and named and _is_determining(word, language):
        if noun[1].lower() in topic.text.lower():  # `this mission`, and the mission was named
            return f"{text[:start]}{topic.definite}{text[end + noun.end() :]}"
        return _append_topic(text, topic.definite)
    if word in lang.recognised_words("followup.places", language) or word.startswith(
        tuple(lang.recognised_words("followup.several", language))
    ):
        return _append_topic(text, topic.definite)
    if lang.mapping("followup.genders", language):
        return _resolved_inflected(text, word, start, end, topic, language)
    if word in lang.words("followup.possessive", language) and noun:
        return f"{text[:start]}{_capitalize_at_start(topic.definite, start)}'s{text[end:]}"
    return f"{text[:start]}{_capitalize_at_start(topic.definite, start)}{text[end:]}"


def _is_determining(word: str, language: str) -> bool:
    """Whether a word says which one of several things is meant: `this`, `those`."""
    stems = tuple(lang.recognised_words("followup.determining_stems", language))
    return word.startswith(stems) or word in lang.recognised_words("followup.determining", language)


def _resolved_inflected(text: str, word: str, start: int, end: int, topic: Phrase, language: str) -> str:
    """The text with the pronoun replaced, in a language whose articles agree with their nouns."""
    articles = lang.mapping("followup.articles_of", language)
    if part := lang.own_regex("followup.with_preposition", language).fullmatch(word):
        return f"{text[:start]}{_capitalize_at_start(part[1], start)} {topic.definite}{text[end:]}"
    possessive = word in lang.words("followup.maybe_possessive", language) and re.match(r"\s+[A-ZÄÖÜ]", text[end:])
    if word in articles and not possessive:
        new = f"{articles[word]} {topic.text}" if topic.determiner else topic.text
        return f"{text[:start]}{_capitalize_at_start(new, start)}{text[end:]}"
    if word in lang.words("followup.articles", language):
        return f"{text[:start]}{_capitalize_at_start(topic.definite, start)}{text[end:]}"
    return _append_topic(text, topic.definite)


def _capitalize_at_start(phrase: str, start: int) -> str:
    return phrase[:1].upper() + phrase[1:] if start == 0 else phrase


def _append_topic(text: str, topic: str) -> str:
    """The text, and in brackets what it is about."""
    if not topic or topic.lower() in text.lower():
        return text
    bare = text.rstrip()
    end = bare[-1] if bare.endswith(("?", "!", ".")) else ""
    return f"{bare.rstrip('?!. ')} ({topic}){end}"


def _antecedent(word: str, conversation: Sequence[Exchange], language: str) -> Phrase | None:
    """What a word points at: the nearest phrase that agrees with it, else the nearest; for a person a name in an answer."""
    nearest: Phrase | None = None
    for turn in reversed(conversation):
        who = lang.regex("followup.asks_who", language, r"^\W*%s\b", re.IGNORECASE)
        maybe = word in lang.recognised_words("followup.maybe_personal", language)
        asks_who = maybe and nearest is None and who.match(turn.standalone)
        personal = word in lang.recognised_words("followup.personal", language)
        if (personal or asks_who) and (name := _first_new_name(turn.answer, turn.standalone, language)):
            return Phrase(name, "", 0, 0, True)
        phrases = noun_phrases(turn.standalone, language)
        if fitting := _agreeing_phrases(word, phrases, language):
            foremost = _most_prominent(word, fitting)
            return _name_after_of(foremost, language) if word in lang.words("followup.neuter", language) else foremost
        nearest = nearest or (_most_prominent(word, phrases) if phrases else None)
    return nearest


def _name_after_of(phrase: Phrase, language: str) -> Phrase:
    """`the rent of the Basel office`: what bears the name is what goes on being talked about."""
    parts = lang.own_regex("followup.owner", language).fullmatch(phrase.text)
    if parts and phrase.named and any(map(str.isupper, parts["owner"])):
        return replace(phrase, text=parts["owner"], determiner=parts["article"] or "")
    return phrase


def _first_new_name(answer: str, question: str, language: str) -> str:
    """The first name of several words in an answer that the question does not hold."""
    stop = lang.recognised_words("terms.stop_words", language)
    for match in lang.regex("followup.name_joints", language, _NAME).finditer(answer):
        words = match[0].split()
        while words and words[0].lower() in stop:
            words.pop(0)
        if len(words) > 1 and " ".join(words).lower() not in question.lower():
            return " ".join(words)
    return ""


def _agreeing_phrases(word: str, phrases: Sequence[Phrase], language: str) -> list[Phrase]:
    """The phrases that agree with a word in gender and number as far as one can see."""
    genders = lang.mapping("followup.genders", language).get(word, "").split()
    if genders:
        return [phrase for phrase in phrases if set(_genders(phrase, language)) & set(genders)]
    if word in lang.recognised_words("followup.plural", language):
        return [phrase for phrase in phrases if phrase.text.endswith("s")] or list(phrases)
    if word in lang.recognised_words("followup.neuter", language):
        return [phrase for phrase in phrases if not phrase.text.endswith("s") or phrase.named] or list(phrases)
    return list(phrases)


def _most_prominent(word: str, phrases: Sequence[Phrase]) -> Phrase:
    """The first name, else for a pronoun the first phrase with an article, else the first."""
    determined = (phrase for phrase in phrases if phrase.determiner and word)
    return next((phrase for phrase in phrases if phrase.named), next(determined, phrases[0]))


def _genders(phrase: Phrase, language: str) -> list[str]:
    """What a phrase can be by its article; German `der` is the feminine's only after a preposition with the dative."""
    listed = lang.mapping("followup.article_genders", language).get(phrase.determiner.lower(), "masculine neuter")
    plain, _, dative = listed.partition("|")
    return (dative if dative and phrase.before in lang.words("followup.dative", language) else plain).split()
