"""HTTP clients of external services; only this package opens outgoing connections."""
