"""Shared code of language models, embedders and rerankers: model table, factories, retries, calibration."""
