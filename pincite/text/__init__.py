"""Pure functions on text: terms, sentences, numbers, names, negation, question types; words of a language in lang/."""
