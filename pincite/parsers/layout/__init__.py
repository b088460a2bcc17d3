"""From words on a page to Markdown: what PDF pages, scans and images have in common."""
