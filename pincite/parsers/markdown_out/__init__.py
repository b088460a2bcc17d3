"""Parsed content written as Markdown."""
