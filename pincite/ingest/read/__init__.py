"""Parse files in sandboxed child processes."""
