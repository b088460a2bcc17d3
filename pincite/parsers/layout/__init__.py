"""Turns words on a page into Markdown; shared by PDF pages, scans and images."""
