"""Middleware of every HTTP request: request id, limits, authentication, CORS, error format."""
