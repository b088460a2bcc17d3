"""Shared code of HTTP providers of language models: messages, streams and tool calls."""
