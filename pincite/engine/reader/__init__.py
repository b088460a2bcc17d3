"""Read parts of documents: lines and sections, positions on pages, differences between versions."""
