"""Several drafts of one answer, and the vote between them."""
