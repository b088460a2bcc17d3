"""Understand the question: guard, history, rewriting, spelling, intent, strategy, level."""
