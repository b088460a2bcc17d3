"""Documents, folders, versions and original files."""
