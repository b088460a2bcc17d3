"""Question sets: read from files, or generated from the user's documents by rules or by a model."""
