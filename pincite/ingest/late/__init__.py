"""Late interaction: the token vectors of passages, and their centroids for the token index."""
