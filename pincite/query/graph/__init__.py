"""Searching the knowledge graph for a question: seeds, ranking of passages, facts for the answer."""
