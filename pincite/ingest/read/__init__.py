"""Parses files in sandboxed child processes."""
