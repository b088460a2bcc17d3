"""Writes parsed content as Markdown."""
