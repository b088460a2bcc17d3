"""What every HTTP request passes: request id, limits, authentication, CORS, error format."""
