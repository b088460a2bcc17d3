"""A follow-up made whole without a model: pronouns are replaced by what they stand for, fragments are completed.

Where it is not clear what a follow-up points at, there is no rewriting: the question stands beside the last one.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pincite.core.query.question import Exchange
from pincite.query.understand.followup import find_references, is_bare, is_follow_up, is_sentence
from pincite.query.understand.standalone import inflection
from pincite.query.understand.standalone.ellipsis import is_time, replace_part
from pincite.query.understand.standalone.noun_phrases import Phrase, is_plural, noun_phrases, simple_phrases
from pincite.text import lang
from pincite.text.terms import question_language, stop_words, terms, words

MAX_ANTECEDENT_WORDS = 8
"""Words of a phrase that takes the place of a pronoun."""
_NAME = r"(?<![\w'’-])[A-ZÄÖÜ][\w'’-]++(?: %s)*(?: [A-ZÄÖÜ][\w'’-]++)+"
_END = re.compile(r"\W*$")

Conversation = Sequence[Exchange]


def place_beside(text: str, conversation: Conversation) -> str:
    """A follow-up that was not understood, after the last question that can be understood alone."""
    whole = next(filter(None, map(_stands_alone, reversed(conversation))), "")
    return f"{whole}{'' if whole.endswith(('?', '!', '.')) else '?'} {text}" if whole else text


def make_standalone(text: str, conversation: Conversation) -> str | None:
    """The question with what it points at in its place; None where that is not clear."""
    text, before = " ".join(text.split()), [_understood(turn) for turn in reversed(conversation)]
    language = _language(text, before[0])
    opening = lang.own_regex("followup.opening", language, r"^\W*+%s", re.IGNORECASE)
    rest = opening.sub("", text)
    several = re.search(r"(?<!\d)[.;!?]\s", rest) or lang.own_regex(
        "followup.remarks", language, r"%s\b", re.IGNORECASE
    ).match(rest)
    clause = lang.own_regex("followup.subordinate", language, r"%s\b", re.IGNORECASE).match(rest)
    if not rest or clause or several or is_bare(rest, language) or not _may_be_in(language, before[0]):
        return None
    part = rest.rstrip("?!. ")
    if lang.own_regex("followup.another_one", language, flags=re.IGNORECASE).fullmatch(part):
        made = replace_part(part, before, language)
    elif found := find_references(rest, language):
        owned = lang.own_regex("followup.owned_part", language, flags=re.IGNORECASE).fullmatch(part)
        made = _Resolver(rest, conversation, language).resolve(found, owned_part=bool(owned))
    elif is_sentence(rest, language) or _was_placed_beside(conversation[-1]):
        return None
    elif owner := lang.own_regex("followup.owner_part", language).fullmatch(part):
        made = _other_owner(owner[1], before[0], language)
    else:  # without `and` or `what about`, a noun alone is most likely another topic
        made = replace_part(part, before, language, phrases=rest != text)
    return made and made[0].upper() + made[1:]


def _language(text: str, before: str) -> str:
    """The language of a follow-up; a fragment has too few words of its own to tell."""
    own = question_language(text)
    return own if is_sentence(text, own) and terms(text, own) else question_language(f"{text} {before}")


def _may_be_in(language: str, text: str) -> bool:
    """Whether no other language is more evident in a text."""
    own, likely = (len(set(words(text)) & stop_words(one)) for one in (language, question_language(text)))
    return own >= likely


def _was_placed_beside(turn: Exchange) -> bool:
    return turn.standalone != turn.question and turn.standalone.endswith(f" {turn.question}")


def _stands_alone(turn: Exchange) -> str:
    """What a turn asked, where that can be understood alone: `And how many guests may join a tour?` can without `and`."""
    if not _was_placed_beside(turn):
        return " ".join(turn.standalone.split())
    asked = " ".join(turn.question.split())
    language = question_language(asked)
    opened = lang.own_regex("followup.opening", language, r"^\W*+%s", re.IGNORECASE).match(asked)
    rest = asked[opened.end() :] if opened else ""
    if not rest or is_follow_up(rest, [turn]):
        return ""
    return rest[0].upper() + rest[1:]


def _understood(turn: Exchange) -> str:
    """What a turn asked, without the question that it was placed beside."""
    return " ".join((turn.question if _was_placed_beside(turn) else turn.standalone).split())


def _other_owner(owner: str, before: str, language: str) -> str | None:
    """`And methanol's?` after a question about what belongs to something else."""
    for phrase in simple_phrases(before, language):
        if phrase.owns or phrase.before in lang.words("phrases.joints", language):
            return f"{before[: phrase.first]}{owner}{before[phrase.end :]}"
    return None


@dataclass(frozen=True, slots=True)
class _Resolver:
    """Replaces the words of a follow-up that stand for something said before."""

    text: str
    conversation: Conversation
    language: str

    def resolve(self, found: Sequence[re.Match[str]], *, owned_part: bool) -> str | None:
        """The text with every reference replaced; None where one of them is not clear."""
        edits: list[tuple[int, int, str]] = []
        kinds = set[str]()
        for match in found:
            word = match[0].split()[-1]
            start, end = match.end() - len(word), match.end()
            kind = lang.mapping("followup.kinds", self.language).get(word.lower(), "")
            if kind in kinds and kind:
                continue  # it stands for the same thing
            kinds.add(kind)
            edit = self._edit(word.lower(), kind, start, end)
            if edit is None:
                return None
            edits.append(edit)
        if owned_part:
            return self._asked_of_owner(edits[0])
        text = self.text
        for start, end, new in reversed(edits):
            text = f"{text[:start]}{new}{text[end:]}"
        return text

    def _edit(self, word: str, kind: str, start: int, end: int) -> tuple[int, int, str] | None:
        following = next((one for one in simple_phrases(self.text, self.language) if one.start == end + 1), None)
        if lang.own_regex("followup.demonstratives", self.language).fullmatch(word) and not _END.match(self.text, end):
            return self._named_again(start, end)
        if lang.mapping("followup.genders", self.language):
            return inflection.edit(self.text, word, start, end, self._candidates(word, kind), self.language)
        phrase = next(iter(self._candidates(word, kind)), None)
        if phrase is None:
            return None
        owner = word in lang.words("followup.possessive", self.language) and following is not None
        return start, end, _possessive(phrase, self.language) if owner else phrase.definite

    def _named_again(self, start: int, end: int) -> tuple[int, int, str] | None:
        """`this mission` where the Europa Clipper mission was named; None where nothing of that name was."""
        noun = next((one for one in simple_phrases(self.text, self.language) if one.start == end + 1), None)
        for turn in reversed(self.conversation) if noun else ():
            for phrase in noun_phrases(_understood(turn), self.language):
                if noun and noun.text.lower() in phrase.text.lower().split():
                    return start, noun.end, phrase.definite
        return None

    def _asked_of_owner(self, edit: tuple[int, int, str]) -> str | None:
        """`And its melting point?`: what it is, of the thing that was asked about."""
        start, end, owner = edit
        part = self.text.rstrip("?!. ")
        plural = is_plural(Phrase(part[end:].strip(), "", 0, 0, named=False), self.language)
        template = lang.mapping("followup.asked_of_owner", self.language).get("plural" if plural else "singular", "")
        return template.format(owner=f"{part[:start]}{owner}", owned=part[end:].strip()) if template else None

    def _candidates(self, word: str, kind: str) -> list[Phrase]:
        """What a word may stand for in the last turn with such a thing, the most likely first; none where two are."""
        for number, turn in enumerate(reversed(self.conversation)):
            asked = _understood(turn)
            who = lang.own_regex("followup.asks_who", self.language, r"^\W*%s\b", re.IGNORECASE).match(asked)
            personal = word in lang.words("followup.personal", self.language)
            maybe = word in lang.words("followup.maybe_personal", self.language) and number == 0 and who
            if (personal or maybe) and (name := _first_new_name(turn.answer, asked, self.language)):
                return [Phrase(name, "", 0, 0, named=True)]
            ranked = sorted(_ranked(asked, self.language), key=lambda one: one[0])
            fitting = [(rank, phrase) for rank, phrase in ranked if self._fits(phrase, word, kind, rank)]
            if lang.own_regex("followup.singular", self.language).fullmatch(word) and any(
                phrase.determiner for _, phrase in ranked
            ):  # a noun without an article beside one with it is seldom what is talked about
                fitting = [(rank, phrase) for rank, phrase in fitting if rank < _BARE]
            if _was_placed_beside(turn):
                fitting = [(rank, phrase) for rank, phrase in fitting if rank <= _DETERMINED]
            if kind == "things" and sum(_OWNER < rank <= _PREPOSITIONAL for rank, _ in fitting) > 1:
                return []
            if fitting or (personal and who):  # else the person is in an answer that names nobody
                return [phrase for _, phrase in fitting]
        return []

    def _fits(self, phrase: Phrase, word: str, kind: str, rank: int) -> bool:
        amount = phrase.text[0].isdigit() or len(phrase.text.split()) > MAX_ANTECEDENT_WORDS
        if amount or not phrase.sure or is_time(phrase, self.language):
            return False
        if lang.mapping("followup.genders", self.language):
            certain = rank < _LOOSE and (rank < _CHOSEN or len(inflection.genders(phrase, self.language)) == 1)
            return certain and inflection.agrees(phrase, word, self.language)
        if kind == "person":
            return rank <= (_NAMED if phrase.named else _OWNER)
        return bool(kind) and is_plural(phrase, self.language) == (kind == "things")


_OWNER, _NAMED, _DETERMINED, _PREPOSITIONAL, _BARE, _CHOSEN, _LOOSE = range(7)


def _ranked(asked: str, language: str) -> Iterator[tuple[int, Phrase]]:
    """The phrases of a question by prominence: whose attribute is asked for, names, with an article, others."""
    joined, counting = noun_phrases(asked, language), lang.own_regex("followup.counting", language, flags=re.IGNORECASE)
    attribute = lang.own_regex("followup.asks_attribute", language, r"^%s\b", re.IGNORECASE).match(asked)
    identity = lang.own_regex("followup.asks_identity", language, r"^%s\b", re.IGNORECASE).match(asked)
    for phrase in simple_phrases(asked, language):
        inner = not any(phrase.start == one.start for one in joined)
        genitive = lang.mapping("followup.after_genitive", language).get(phrase.determiner.lower())
        if inner and (genitive or phrase.before in lang.words("phrases.joints", language)):
            rank = _OWNER if attribute else _BARE
            yield rank, replace(phrase, determiner=genitive) if genitive else phrase
        elif inner:
            yield _BARE, phrase
    for number, phrase in enumerate(joined):
        if counting.fullmatch(phrase.before):
            yield _CHOSEN, replace(phrase, determiner=" ".join(lang.sequence("phrases.article", language)))
        elif phrase.before not in lang.words("phrases.units_after", language):
            first = phrase.owns or (identity is not None and number == 0 and len(joined) == 1)
            yield _OWNER if first else _rank(phrase, language), phrase


def _rank(phrase: Phrase, language: str) -> int:
    prepositional = phrase.before in lang.words("phrases.prepositions", language)
    if not phrase.named and not inflection.article_of(phrase, language):
        return _LOOSE if prepositional else _BARE
    if prepositional:
        return _PREPOSITIONAL
    return _NAMED if phrase.named else _DETERMINED


def _possessive(phrase: Phrase, language: str) -> str:
    joint = next((f" {one} " for one in lang.words("phrases.joints", language) if f" {one} " in phrase.definite), None)
    owner = phrase.definite.partition(joint)[0] if joint else phrase.definite
    return f"{owner}'" if is_plural(phrase, language) and owner.endswith("s") else f"{owner}'s"


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
