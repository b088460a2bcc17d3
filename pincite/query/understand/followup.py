"""Detect follow-up questions, which cannot be understood without the conversation; German and English."""

import re
from collections.abc import Sequence
from functools import lru_cache

from pincite.core.query.question import Exchange
from pincite.query.understand.noun_phrases import noun_phrases
from pincite.text.terms import question_language, terms

MAX_TERMS_BEFORE_PRONOUN = 3
"""A pronoun with more content words before it in its own text most likely refers to one of them."""
MAX_FRAGMENT_TERMS = 2
"""A text without a verb and with at most this many content words is a follow-up."""
MAX_VAGUE_TERMS = 1
"""A whole question with at most this many content words is a follow-up: `What are the benefits?`"""

REFERS = {
    "en": re.compile(
        r"\b(it|its|they|them|their|theirs|he|him|his|she|hers?|these|those|this|both|others|another|(?<!every )(?<!any )ones?(?=\s*[?.!]*$)|(?<=which )one|former|latter|"
        r"(?<!so )such|there(?=\s*[?.!]*$)|here(?=\s*[?.!]*$)|the same(?! \w+ as\b| as\b)|"
        r"(?:(?:is|was|does|did|do|can|could|will|would|should|about|of|for|with|like|to|in|on|from|by|at|why|how|than|and|"
        r"before|after|doing|mean)\s+|^\W*)that(?!\s+(?:the|a|an|i|we|you|my|our)\b))\b",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"\b(er|sie|es|ihm|ihn|ihnen|(?:ihr|sein)(?:e[mnrs]?)?|dessen|deren|denen|(?i:dies(?:e[mnrs]?)?|jene[mnrs]?|solche[mnrs]?|"
        r"derselbe|dieselbe|dasselbe|beide[mnrs]?|letztere[mnrs]?|erstere[mnrs]?|dort(?:hin)?|"
        r"(?:da|hier)(?:r?an|r?auf|r?aus|bei|durch|für|gegen|hinter|r?in|mit|nach|neben|r?über|r?um|r?unter|von|vor|zu|zwischen)|"
        r"(?:das|die|der|den|dem)(?=\s*[?.!]*$)|das(?=\s+(?:auch|denn|dann|nicht|so|genau|gemacht|möglich|erlaubt|nötig|ist|sind|"
        r"hat|gilt|kostet|geht|alles|für|bei|im|in|am|mit)\b)|da(?=\s*[?.!]*$)))\b"
    ),
}  # fmt: skip
"""Words that stand for something said before. German `Sie` is a polite you, `sie` is not."""

_EMPTY_IT = {
    "en": re.compile(
        r"\b(?:(?:is|was|would|will) it(?: be| a)? (?:\w+ )?(?:to|that|if|for|when)\b|it (?:is|was|would be|takes?|seems)(?: \w+)? "
        r"(?:to|that|if|for)\b|it (?:rains?|snows?)\b|(?:does|did|will|would) it (?:take|cost) (?:me |us |you )?(?:for|to)\b|that it\b.*\b(?:to|that)\b)",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"\b(?:gibt es|es gibt|gab es|geht es (?:um|darum)|handelt es sich|"
        r"(?:ist|wäre|war) es (?:\w+ )?(?:möglich|erlaubt|nötig|notwendig|verboten|wichtig|sinnvoll|zulässig|besser|wahr|richtig)|"
        r"dauert es,? bis|kommt es (?:zu|vor|an))\b",
        re.IGNORECASE,
    ),
}  # fmt: skip
"""An `it` that stands for nothing."""

LEADS = re.compile(
    r"^\W*(?:and|but|or|then|what about|how about|what if not|why not|how so|how come|any (?:other|more)|anything (?:else|for)|"
    r"what else|who else|where else|tell me more|more (?:about|on|details|information)|(?:no|not|yes|yeah|ok|okay|right|sorry|oops|"
    r"excuse me|i mean\w*|i meant)\b|"
    r"und|aber|oder|dann|was ist mit|wie sieht es|wie steht es|wie ist es (?:mit|bei)|und was|warum nicht|wieso nicht|was noch|"
    r"was sonst|wer noch|wo sonst|auch|nein|nicht|ja|doch|ich meine?t?e?|mehr (?:dazu|darüber|details))\b",
    re.IGNORECASE,
)
"""Openings that go on with what was said before."""

BARE = re.compile(
    r"^\W*(?:why|how|when|where|who|which|what|since when|until when|by whom|how (?:much|many|long|often|far|old|big)|"
    r"warum|wieso|weshalb|wann|wo|wohin|woher|wer|wem|wen|was|welche[mnrs]?|wie|seit wann|bis wann|von wem|"
    r"wie (?:viel\w?|lange|oft|weit|alt|hoch|teuer|groß))\W*$",
    re.IGNORECASE,
)
"""A question word and nothing else."""

FINITE = {
    "en": re.compile(
        r"\b(is|are|was|were|am|be|do|does|did|has|have|had|can|could|will|would|should|may|might|must|shall|what|how|why|when|"
        r"where|who|which|i|you|we|isn't|aren't|don't|doesn't|can't|explain|describe|list|show|tell|give|define|compare|"
        r"summari[sz]e)\b",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"\b(ist|sind|war|waren|wird|werden|wurden?|hat|haben|hatten?|kann|können|darf|dürfen|muss|müssen|soll|sollen|will|wollen|"
        r"gibt|gilt|gelten|was|wie|warum|wann|wo|wer|welche[mnrs]?|ich|wir|man|erkläre?|beschreibe?|nenne?|zeige?|fasse?|vergleiche?)\b",
        re.IGNORECASE,
    ),
}  # fmt: skip
"""What a whole sentence has one of."""

_DEFINES = re.compile(r"\b(?:an?|eine?|ein)\s+\S++\W*+$|^\W*+(?:[\w']++\s++){1,2}[A-Z]\w*+\W*+$")
"""`What is a galaxy?`, `Explain Spark.`: short, and yet they name what they ask about."""


def is_follow_up(text: str, conversation: Sequence[Exchange]) -> bool:
    """Whether a question depends on the conversation; the first question of a conversation never does."""
    return bool(conversation) and _depends_on_history(text)


@lru_cache(maxsize=512)
def _depends_on_history(text: str) -> bool:
    """Whether a text cannot be understood alone; cached, since every question checks all turns again."""
    language = question_language(text)
    if LEADS.search(text) or BARE.match(text) or find_reference(text, language):
        return True
    term_count = len(terms(text, language))
    if term_count <= MAX_VAGUE_TERMS and FINITE[language].search(text):
        return not _DEFINES.search(text)
    return term_count <= MAX_FRAGMENT_TERMS and not FINITE[language].search(text)


def find_reference(text: str, language: str) -> re.Match[str] | None:
    """The word of a question that refers to the conversation; None where there is none."""
    masked = _EMPTY_IT[language].sub(lambda match: " " * len(match[0]), text)
    for match in REFERS[language].finditer(masked):
        if _has_own_antecedent(masked[: match.start()], language):
            return None
        if not (_DEMONSTRATIVE.fullmatch(match[0]) and _is_specific(text, match.end(), language)):
            return match
    return None


def _has_own_antecedent(before: str, language: str) -> bool:
    """Whether a pronoun most likely refers to its own text: many terms, or another clause, stand before it."""
    return len(terms(before, language)) > MAX_TERMS_BEFORE_PRONOUN or (
        any(mark in before for mark in ",;.?!") and bool(noun_phrases(before, language))
    )


_DEMONSTRATIVE = re.compile(r"this|these|those|dies\w*|jene\w*", re.IGNORECASE)


def _is_specific(text: str, end: int, language: str) -> bool:
    """Whether the phrase after a demonstrative is specific: `this Deep Impact mission` is, `this mission` is not."""
    start = end + len(text[end:]) - len(text[end:].lstrip())
    return any(phrase.start == start and " " in phrase.text for phrase in noun_phrases(text, language))
