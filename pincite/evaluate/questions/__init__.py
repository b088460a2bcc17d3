"""Question sets: read from files, made from the user's documents by rules or by a model."""
