"""Prompt templates, token budget, short helper calls of the model."""
