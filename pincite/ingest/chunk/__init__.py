"""Cut parsed text into chunks."""
