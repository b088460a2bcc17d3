"""Traces, metrics and logs of requests."""
