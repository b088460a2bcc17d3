"""Lexical and dense search, restricted to what the caller may read."""
