"""Checks the name, type and size of files, and finds files in folders."""
