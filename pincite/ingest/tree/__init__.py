"""The summary tree: clusters of passages, and the sentences that stand for each cluster."""
