"""Documents, chunks, jobs, and where text stands on a page."""
