"""The words: pure data and protocols; no I/O, no third-party import."""
