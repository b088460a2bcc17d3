"""Parts of the mail parser."""
