"""Fixed sentences of answers, in the language of the question."""

from collections.abc import Sequence

NOTHING_FOUND = {
    "en": "I don't have specific information about this in the documents.",
    "de": "Dazu habe ich in den Dokumenten keine genauen Angaben.",
}
"""The answer when no passage answers the question."""

NOTHING_ABOUT = {
    "en": "Nothing that fits was found about {what}.",
    "de": "Zu {what} wurde nichts Passendes gefunden.",
}
"""Names the terms without a matching passage, when they are known."""

NOTHING_ASKED = {
    "en": "Ask me something about your documents, and I will answer from them.",
    "de": "Frag mich etwas zu deinen Dokumenten, dann antworte ich daraus.",
}
"""The answer to small talk when no language model is configured."""

NO_ANSWER = "no_answer"
"""The finish reason of a model that judged the sources insufficient."""


def quote_words(words: Sequence[str], language: str) -> str:
    """Join words into a list, each in quotation marks of the language."""
    opening, closing = ("„", "“") if language == "de" else ("“", "”")
    return ", ".join(f"{opening}{word}{closing}" for word in words)
