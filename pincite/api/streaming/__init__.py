"""Answers as streams: server-sent events, resumable streams, disconnects, permission re-checks."""
