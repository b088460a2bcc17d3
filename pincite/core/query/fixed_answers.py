"""The finish reason of an answer that says that the documents do not answer."""

NO_ANSWER = "no_answer"
"""Finish reason of an answerer that found the sources not to answer."""
