"""Accept a file: its type, size and name; find files in folders."""
