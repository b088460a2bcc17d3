"""Parts of the HTML parser."""
