"""A file becomes searchable: one file per stage."""
