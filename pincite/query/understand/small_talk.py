"""What is said to a colleague rather than asked of documents: greetings, thanks, talk about the conversation itself."""

import re
from functools import cache

from pincite.text import lang
from pincite.text.terms import question_language, words


@cache
def _talk(language: str) -> re.Pattern[str]:
    """A whole text that is small talk."""

    def words(key: str) -> str:
        return f"(?:{lang.alternatives(f'small_talk.{key}', language)})"

    addressed = rf"(?:{words('greetings')}|{words('thanks')}|{words('goodbyes')})(?:\W+{words('address')})*"
    greeted = rf"(?:{words('greetings')}\W+)?{words('how_are_you')}"
    others = rf"{words('replies')}|{words('about_me')}|{words('about_conversation')}"
    return re.compile(rf"^\W*(?:{addressed}|{greeted}|{others})\W*$", re.IGNORECASE)


MAX_SMALL_TALK_CHARS = 120
"""Characters; whoever writes more wants to know something."""


def is_small_talk(text: str) -> bool:
    """Whether no document is meant: the whole text is a greeting, thanks, or about the conversation itself."""
    said = " ".join(text.split())
    if not 0 < len(said) <= MAX_SMALL_TALK_CHARS:
        return False
    talk = _talk(talk_language(said))
    return all(talk.match(part) for part in re.split(r"(?<=[.!?])\s+", said) if part)


def talk_language(text: str) -> str:
    """The language of small talk, which has few of the stop words that tell the language of a question."""
    found = set(words(text))
    telling = (language for language in lang.LANGUAGES if found & lang.words("small_talk.telling", language))
    return next(telling, question_language(text))
