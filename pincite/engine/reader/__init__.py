"""Read parts of documents: sections, page positions, differences between versions."""
