"""The sentences that the product itself says in an answer, in the language of the question."""

from collections.abc import Sequence
from typing import Literal

from pincite.text import lang

TalkKind = Literal["greeting", "thanks", "goodbye", "how_are_you", "about_me", "arithmetic", "other"]
"""Kinds of small talk."""


def nothing_found(missing: Sequence[str], language: str) -> str:
    """The sentence for a question that the documents do not answer; `missing` are its words that they lack."""
    found = lang.message("answers.nothing_found", language)
    if not missing:
        return found
    about = lang.message("answers.nothing_about", language)
    return f"{found} {about.format(what=quote_words(missing, language))}"


def said_by_name(name: str, language: str, *, is_file: bool) -> str:
    """The sentence that a value stands in the title of a document or in the name of its file."""
    key = "answers.by_file_name" if is_file else "answers.by_title"
    return lang.message(key, language).format(name=quote_words([name], language))


def nothing_readable(language: str) -> str:
    """The sentence for a user who may read no document at all; it says nothing about what others have."""
    return lang.message("answers.nothing_readable", language)


def talk_reply(kind: TalkKind | None, language: str) -> str:
    """The reply to small talk, where no model is there to reply; to anything else, what can be asked."""
    asked = lang.message("answers.nothing_asked", language)
    replies: dict[TalkKind, str] = {
        "greeting": lang.message("answers.greeting", language),
        "thanks": lang.message("answers.thanks", language),
        "goodbye": lang.message("answers.goodbye", language),
        "how_are_you": lang.message("answers.how_are_you", language),
        "about_me": lang.message("answers.about_me", language),
        "arithmetic": lang.message("answers.arithmetic", language),
    }
    reply = replies.get(kind, "") if kind else ""
    return f"{reply} {asked}" if kind in ("greeting", "how_are_you") else reply or asked


def quote_words(words: Sequence[str], language: str) -> str:
    """The words in the quotation marks of a language, with commas between them."""
    opening, closing = lang.message("language.quotes", language).split()
    return ", ".join(f"{opening}{word}{closing}" for word in words)
