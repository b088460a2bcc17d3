"""Outside services and models: one file each, found by name."""
