"""Cuts parsed text into chunks."""
