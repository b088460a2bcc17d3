"""A question becomes an answer: one file per stage."""
