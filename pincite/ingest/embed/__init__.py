"""Turn chunks into embeddings, in bulk, in a process of its own."""
