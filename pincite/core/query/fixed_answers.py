"""The few sentences the product itself says inside an answer, in the language of the question."""

from collections.abc import Sequence

NOTHING_FOUND = {
    "en": "I don't have specific information about this in the documents.",
    "de": "Dazu habe ich in den Dokumenten keine genauen Angaben.",
}

NOTHING_ABOUT = {
    "en": "Nothing that fits was found about {what}.",
    "de": "Zu {what} wurde nichts Passendes gefunden.",
}
"""What is missing, where that can be told."""

NOTHING_ASKED = {
    "en": "Ask me something about your documents, and I will answer from them.",
    "de": "Frag mich etwas zu deinen Dokumenten, dann antworte ich daraus.",
}
"""Where no document is asked about and there is no model to talk to."""

NO_ANSWER = "no_answer"
"""Finish reason of an answerer that found the sources not to answer."""


def quote_words(words: Sequence[str], language: str) -> str:
    """Words one after the other, as quotations."""
    opening, closing = ("„", "“") if language == "de" else ("“", "”")
    return ", ".join(f"{opening}{word}{closing}" for word in words)
