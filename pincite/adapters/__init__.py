"""Retrievers for other frameworks over an open library, one file for each; each needs the extra of its name."""
