"""These tests are about questions and measures."""

from tests.reading import read_by_the_tests

__all__ = ["read_by_the_tests"]
