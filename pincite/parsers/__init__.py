"""File types: one file each, found by name."""
