"""The HTTP service: the only package that handles HTTP requests."""
