"""Flows: nodes that search, read and write, joined by edges; the last one's words are the answer."""
