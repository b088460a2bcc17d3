"""These tests are about searches and answers."""

from tests.reading import read_by_the_tests

__all__ = ["read_by_the_tests"]
