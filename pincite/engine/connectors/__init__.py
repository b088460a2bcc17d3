"""Sources of documents: synchronised folders, web pages, and the samples."""
