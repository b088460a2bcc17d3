"""Pronouns replaced in a language whose articles agree with their nouns in gender and case."""

import re
from collections.abc import Sequence

from pincite.query.understand.standalone.noun_phrases import Phrase, simple_phrases
from pincite.text import lang

Edit = tuple[int, int, str]


def agrees(phrase: Phrase, word: str, language: str) -> bool:
    """Whether a phrase agrees with a pronoun in gender and number, as far as its form tells."""
    if not article_of(phrase, language):
        looks_plural = lang.own_regex("followup.bare_plural", language, r"%s$").search(phrase.text)
        singular = lang.own_regex("followup.singular", language).fullmatch(word)
        return not (singular and looks_plural)
    wanted = set(_genders_of(word, language))
    return not wanted or bool(set(genders(phrase, language)) & wanted)


def _genders_of(word: str, language: str) -> list[str]:
    known = lang.mapping("followup.genders", language)
    if found := lang.own_regex("followup.possessives", language).fullmatch(word):
        return known[found["owner"]].split()
    return known.get(_as_pronoun(word, language), "").split()


def _as_pronoun(word: str, language: str) -> str:
    """The personal pronoun that a demonstrative stands for."""
    return lang.mapping("followup.as_pronoun", language).get(word, word)


def genders(phrase: Phrase, language: str) -> list[str]:
    """What a phrase can be by its article; German `der` is the feminine's after a preposition with the dative."""
    article = article_of(phrase, language)
    listed = lang.mapping("followup.article_genders", language).get(article, "masculine neuter")
    plain, _, dative = listed.partition("|")
    contracted = not phrase.determiner and phrase.before in lang.mapping("followup.contracted", language)
    if dative and phrase.before in lang.words("followup.two_way", language):
        return [*plain.split(), *dative.split()]
    return (dative if dative and (contracted or _is_dative(phrase, language)) else plain).split()


def article_of(phrase: Phrase, language: str) -> str:
    """The determiner of a phrase, or the article that the word before it stands for: `im`, `welchen`."""
    return phrase.determiner.lower() or lang.mapping("followup.implied_articles", language).get(phrase.before, "")


def _is_dative(phrase: Phrase, language: str) -> bool:
    return phrase.before in lang.words("followup.dative", language)


def edit(text: str, word: str, start: int, end: int, candidates: Sequence[Phrase], language: str) -> Edit | None:
    """What takes the place of a pronoun, and from where to where; None where its form is not certain."""
    owned = lang.own_regex("followup.possessives", language).fullmatch(word)
    if owned and (noun := _noun_after(text, end, language)):
        return _owned_edit(text, (owned["ending"] or "", start), noun, next(iter(candidates), None), language)
    if joined := lang.own_regex("followup.with_preposition", language).fullmatch(word):
        new = _after_preposition(joined[1], candidates, language)
        return (start, end, new) if new else None
    pronoun = _as_pronoun(word, language)
    phrase = next(iter(candidates), None)
    if phrase is None or pronoun not in lang.mapping("followup.articles_of", language):
        return None
    new = _declined(phrase, pronoun, language)
    return (start, end, new) if new else None


def _noun_after(text: str, end: int, language: str) -> Phrase | None:
    """The noun after a possessive, with at most one adjective between them."""
    for phrase in simple_phrases(text, language):
        if phrase.start > end and re.fullmatch(r"\s+(?:[a-zäöüß]+\s+)?", text[end : phrase.start]):
            return phrase
    return None


def _declined(phrase: Phrase, pronoun: str, language: str) -> str | None:
    """A phrase in the case of a pronoun; None where its noun or adjective might have another form there."""
    given, article = article_of(phrase, language), lang.mapping("followup.articles_of", language)[pronoun]
    if not given:
        return phrase.text
    own = lang.own_regex("followup.own_determiners", language).fullmatch(given)
    if own:
        article = f"{own[1]}{lang.mapping('followup.endings', language).get(pronoun, '')}"
    words = phrase.text.split()
    described = [n for n, word in enumerate(words) if word.islower() and not set(map(str.islower, words[:n])) - {True}]
    if own and described and article != given:
        return None
    if described and not own and given not in lang.words("followup.either_number", language):
        ending = "en" if article in lang.words("followup.oblique", language) else "e"
        for number in described:
            words[number] = (
                f"{lang.own_regex('followup.adjective_ending', language, r'%s$').sub('', words[number])}{ending}"
            )
    noun = len(described)
    oblique, was_oblique = (one in lang.words("followup.oblique", language) for one in (article, given))
    weak = genders(phrase, language) == ["masculine"] and words[noun].endswith(
        lang.sequence("followup.weak_endings", language)
    )
    if oblique and not was_oblique and weak:
        words[noun] = f"{words[noun]}n"
    elif was_oblique and not oblique and _may_be_weak(words[noun], language):
        return None  # `den Kollegen` is `der Kollege`, `den Hafen` is `der Hafen`
    return " ".join((article, *words))


def _may_be_weak(noun: str, language: str) -> bool:
    """Whether the `n` at the end of a noun may belong to its case."""
    strong = lang.own_regex("followup.strong_nouns", language, r"%s$", re.IGNORECASE)
    return noun.endswith("n") and not strong.search(noun)


def _owned_edit(
    text: str, possessive: tuple[str, int], noun: Phrase, owner: Phrase | None, language: str
) -> Edit | None:
    """`seine Verträge` with the owner after the noun: `die Verträge von Helios`."""
    ending, start = possessive
    if owner is None or (noun.text.split()[0].islower() and not ending):
        return None
    article = lang.mapping("followup.article_of_ending", language).get(ending) or _article_of(
        text, start, noun, language
    )
    of_owner = _of(owner, language)
    if article is None and not article_of(owner, language):  # a name has a genitive of its own
        mark = "'" if owner.text.endswith(("s", "x", "z", "ß")) else "s"
        return start, noun.start - 1, f"{owner.text}{mark}"
    if article is None or of_owner is None:
        return None
    between = text[start : noun.end].split(" ", 1)[1]
    return start, noun.end, f"{article} {between} {of_owner}"


def _article_of(text: str, start: int, noun: Phrase, language: str) -> str | None:
    """The article of a noun in the nominative by the question or by the noun; None where neither tells."""
    word = noun.text.split()[-1].lower()
    if lang.own_regex("followup.asks_identity", language, flags=re.IGNORECASE).fullmatch(text[:start].strip()):
        return lang.message("followup.article_of_person", language)
    articles = lang.mapping("followup.noun_articles", language)
    return next((article for ending, article in articles.items() if re.search(rf"(?:{ending})$", word)), None)


def _of(owner: Phrase, language: str) -> str | None:
    """A phrase as an owner after the noun; None where its form in the genitive is not certain."""
    forms = lang.mapping("followup.of", language)
    if not article_of(owner, language):
        return f"{forms['name']} {owner.text}"
    if owner.text[0].islower() or article_of(owner, language) in lang.words("followup.genitive", language):
        return None
    if lang.own_regex("followup.own_determiners", language).fullmatch(article_of(owner, language)):
        return None
    if "feminine" in genders(owner, language):
        return f"{forms['feminine']} {owner.text}"
    noun, _, rest = owner.text.partition(" ")
    weak = "masculine" in genders(owner, language) and noun.endswith(lang.sequence("followup.weak_endings", language))
    return f"{forms['other']} {noun}{'n' if weak else ''} {rest}".strip()


def _after_preposition(preposition: str, candidates: Sequence[Phrase], language: str) -> str | None:
    """`dafür` with the thing in the case of the preposition; None where several things or cases are possible."""
    determined = [phrase for phrase in candidates[:2] if phrase.determiner]
    phrase = candidates[0] if candidates else None
    if phrase is None or len(determined) > 1:
        return None
    if not article_of(phrase, language):
        return f"{preposition} {phrase.text}"
    known = genders(phrase, language)
    case = lang.mapping("followup.case_after", language).get(preposition)
    if case is None or len(known) > 1:
        return None
    plural = lang.own_regex("followup.plural_endings", language, r"%s$").search(phrase.text.split()[0])
    if case == "dative" and known == ["feminine"] and plural:
        return None
    pronoun = lang.mapping("followup.pronoun_of", language).get(f"{case} {known[0]}", "")
    declined = _declined(phrase, pronoun, language) if pronoun else None
    return f"{preposition} {declined}" if declined else None
