"""The database and the stored files: the only package that contains SQL."""
