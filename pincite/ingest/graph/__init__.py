"""Extracting entities and facts from the passages of a document, by rules or by a model."""
