"""The names of the inputs and outputs of the BERT graphs."""

INPUT, TYPES = "ids", "types"
"""The word pieces; for a reader also 0 for each piece of the question and 1 for each piece of the passage."""
READER_OUTPUTS = ("start", "end", "answerable", "polarity", "claim")
"""Logits of a reader: of the first and the last piece of the answer (a value for each piece), of an answer in the
passage (one value), of yes, no and neither, and of supported, contradicted and not stated."""
