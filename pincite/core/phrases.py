"""The few sentences the product itself says inside an answer, in the language of the question."""

NOTHING_FOUND = {
    "en": "I don't have specific information about this in the documents.",
    "de": "Dazu habe ich in den Dokumenten keine genauen Angaben.",
}

NO_ANSWER = "no_answer"
"""Finish reason of an answerer that found the sources not to answer."""
