"""The sentences that the product itself says in an answer, in the language of the question."""

from collections.abc import Sequence

from pincite.text import lang


def nothing_found(missing: Sequence[str], language: str) -> str:
    """The sentence for a question that the documents do not answer; `missing` are its words that they lack."""
    found = lang.message("answers.nothing_found", language)
    if not missing:
        return found
    about = lang.message("answers.nothing_about", language)
    return f"{found} {about.format(what=quote_words(missing, language))}"


def nothing_asked(language: str) -> str:
    """The sentence for small talk, where no model is there to reply."""
    return lang.message("answers.nothing_asked", language)


def quote_words(words: Sequence[str], language: str) -> str:
    """The words in the quotation marks of a language, with commas between them."""
    opening, closing = lang.message("language.quotes", language).split()
    return ", ".join(f"{opening}{word}{closing}" for word in words)
