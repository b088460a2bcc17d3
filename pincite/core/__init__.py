"""Data classes and protocols; no I/O and no third-party imports."""
