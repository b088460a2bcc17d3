"""Answers that quote a whole: lists and steps, summaries, comparisons, by the outline of the sources."""
