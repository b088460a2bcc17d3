"""Streamed answers: server-sent events, resumable streams, disconnects, permission re-checks."""
