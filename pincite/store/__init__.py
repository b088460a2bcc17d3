"""Memory: the only package that knows SQL."""
