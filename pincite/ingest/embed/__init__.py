"""Embeds chunks in bulk, in a child process."""
