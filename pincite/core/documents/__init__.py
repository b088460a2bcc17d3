"""Documents, chunks, jobs, and positions of text on pages."""
