"""Providers of language models, embedders and rerankers: one file each, loaded by name."""
