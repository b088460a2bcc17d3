"""The door: the only package that knows HTTP and JSON; one file per noun."""

API = "/api/v1"
"""Where every route but `/` lives."""
