"""Language without input or output: words, sentences, numbers, names, negation."""
