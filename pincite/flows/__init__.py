"""Flows: graphs of search, read and completion nodes; the text of the last completion is the answer."""
