"""The embedder's index tools, and the switch from one index to another."""
