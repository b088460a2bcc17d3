"""Citation marks, claims, sources and positions."""
