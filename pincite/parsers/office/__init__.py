"""Parts of the Word, PowerPoint and Excel parsers."""
