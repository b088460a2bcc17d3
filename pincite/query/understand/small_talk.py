"""What is said to a colleague rather than asked of documents: greetings, thanks, sums, talk about the conversation."""

import re
from functools import cache

from pincite.text import lang
from pincite.text.fixed_answers import TalkKind
from pincite.text.terms import question_language, words

MAX_SMALL_TALK_CHARS = 120
"""Characters; whoever writes more wants to know something."""

_NUMBER = r"\(?-?\d[\d.,]*\)?"


@cache
def _talk(language: str) -> dict[TalkKind, re.Pattern[str]]:
    """The patterns of a whole text that is small talk, in the order they are tried."""

    def words(key: str) -> str:
        return f"(?:{lang.alternatives(f'small_talk.{key}', language)})"

    address = rf"(?:\W+{words('address')})*"
    operation = rf"(?:\s*[*×÷+^]\s*|\s+[x/-]\s+|\s*{words('operators')}\s*)"
    shapes: dict[TalkKind, str] = {
        "arithmetic": rf"(?:{words('calculate')}\s+)?{_NUMBER}(?:{operation}{_NUMBER})+(?:\s*=)?",
        "greeting": rf"{words('greetings')}{address}",
        "thanks": rf"{words('thanks')}{address}",
        "goodbye": rf"{words('goodbyes')}{address}",
        "how_are_you": rf"(?:{words('greetings')}\W+)?{words('how_are_you')}",
        "about_me": words("about_me"),
        "other": rf"{words('replies')}|{words('about_conversation')}",
    }
    return {kind: re.compile(rf"^\W*(?:{shape})\W*$", re.IGNORECASE) for kind, shape in shapes.items()}


def is_small_talk(text: str) -> bool:
    """Whether no document is meant: the whole text is a greeting, thanks, a sum, or about the conversation itself."""
    return talk_kind(text) is not None


def talk_kind(text: str) -> TalkKind | None:
    """What kind of small talk a text is, its last part deciding; None where it is none."""
    said = " ".join(text.split())
    if not 0 < len(said) <= MAX_SMALL_TALK_CHARS:
        return None
    talk = _talk(talk_language(said))
    kind: TalkKind | None = None
    for part in filter(None, re.split(r"(?<=[.!?])\s+", said)):
        kind = next((name for name, pattern in talk.items() if pattern.match(part)), None)
        if kind is None:
            return None
    return kind


def talk_language(text: str) -> str:
    """The language of small talk, which has few of the stop words that tell the language of a question."""
    found = set(words(text))
    telling = (language for language in lang.LANGUAGES if found & lang.words("small_talk.telling", language))
    return next(telling, question_language(text))
